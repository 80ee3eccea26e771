// The agent as it is released: one executable, in a directory with nothing else, started without a Node on PATH.

import { chmod, copyFile, link, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildAgentExecutable } from '../../tools/build/agent-executable.ts'
import { type Ended, type RunningProgram, startProgram } from './processes.ts'

export interface BuiltAgents extends AsyncDisposable {
  /** The paths of the executables, in the order of the versions. */
  readonly paths: readonly string[]
}

/** One executable for each version, all with that release key. */
export async function buildAgents(
  versions: readonly string[],
  releasePublicKey: string | undefined,
): Promise<BuiltAgents> {
  const directory = await mkdtemp(join(tmpdir(), 'built-'))
  await chmod(directory, 0o755)
  const paths: string[] = []
  for (const version of versions) {
    const path = join(directory, `svc-agent-${version}`)
    await buildAgentExecutable(path, { version, releasePublicKey })
    paths.push(path)
  }
  return {
    paths,
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  }
}

/** A small program that passes for an agent of that version, and else does what the shell commands say. */
export function pretendAgent(version: string, commands = 'exit 3'): Buffer {
  return Buffer.from(`#!/bin/sh\n[ "$1" = --version ] && echo ${version} && exit\n${commands}\n`)
}

export class InstalledAgent implements AsyncDisposable {
  readonly directory: string
  readonly binary: string
  /** Of the executable as it was placed; it is another one's when that was replaced. */
  fileId = 0
  /** Nothing of ours, and no Node. */
  env: Record<string, string> = { PATH: '/nonexistent' }

  private constructor(directory: string) {
    this.directory = directory
    this.binary = join(directory, 'svc-agent')
  }

  static async create(executable: string): Promise<InstalledAgent> {
    const directory = await mkdtemp(join(tmpdir(), 'installed-'))
    await chmod(directory, 0o755)
    return InstalledAgent.createIn(directory, executable, link)
  }

  /** In a directory that is there, on another file system. */
  static async createIn(
    directory: string,
    executable: string,
    place: (from: string, to: string) => Promise<void> = copyFile,
  ): Promise<InstalledAgent> {
    const installed = new InstalledAgent(directory)
    await place(executable, installed.binary)
    installed.fileId = (await stat(installed.binary)).ino
    installed.env['SVC_AGENT_DATA_DIR'] = join(directory, 'data')
    return installed
  }

  command(...args: string[]): Promise<Ended> {
    return this.start(...args).ended
  }

  start(...args: string[]): RunningProgram {
    return startProgram(this.binary, args, this.env)
  }

  /** What the executable says it is; proves that it runs. */
  async version(): Promise<string> {
    return (await this.command('--version')).stdout.trim()
  }

  /** What lies beside it, after its name. */
  async readBeside(suffix: string): Promise<string> {
    return readFile(`${this.binary}${suffix}`, 'latin1')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.directory, { recursive: true, force: true })
  }
}
