// A program from PyPI, installed once into a virtual environment of its own in the user's cache.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { errnoCode, SvcError } from '../src/platform/errors.ts'
import { INSTALL_MS_MAX, installOnce, placeInCache } from './install-once.ts'

export interface PythonPackage {
  readonly name: string
  readonly version: string
  /** What `python3 -m` runs. */
  readonly module: string
  /** What it does not bring by itself, as `name==version`. */
  readonly besides?: readonly string[]
}

/** How it is run: a virtual environment's Python, since its programs name the place where they were made. */
export type PythonProgram = readonly [python: string, ...args: string[]]

/** Installed if need be; undefined where that cannot be done, which is an error under CI. */
export async function ensurePythonProgram(
  wanted: PythonPackage,
): Promise<PythonProgram | undefined> {
  const place = placeInCache(`${wanted.name}-${wanted.version}`)
  try {
    await installOnce(place, (staging) => install(wanted, staging))
  } catch (error) {
    if (process.env['CI'] === 'true') throw error
    return undefined
  }
  return [join(place, 'bin', 'python3'), '-m', wanted.module]
}

async function install(wanted: PythonPackage, directory: string): Promise<void> {
  const { name, version, besides = [] } = wanted
  process.stderr.write(`installing ${name} ${version} (about half a minute the first time)\n`)
  // Some programs refuse to run as root.
  await chmod(directory, 0o755)
  await run(['/usr/bin/python3', '-m', 'venv', directory])
  const pip = [join(directory, 'bin', 'python3'), '-m', 'pip'] as const
  const options = ['--quiet', '--disable-pip-version-check']
  await run([...pip, 'install', ...options, `${name}==${version}`, ...besides])
}

async function run([command, ...args]: readonly [string, ...string[]]): Promise<void> {
  // What a tool says about its work is not this program's result, so it goes to stderr.
  const child = spawn(command, args, {
    stdio: ['ignore', 2, 2],
    signal: AbortSignal.timeout(INSTALL_MS_MAX),
  })
  try {
    const [status] = (await once(child, 'exit')) as [number | null]
    if (status === 0) return
  } catch (error) {
    if (errnoCode(error) !== 'ENOENT') throw error
  }
  throw new SvcError('install_failed', `${command} ${args.join(' ')} failed`, {
    hint: 'python3-venv and a way to PyPI are needed',
  })
}
