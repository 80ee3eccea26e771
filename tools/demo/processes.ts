// The programs of the demo: the real ones of bin/, as the tests run them, and daemons that can outlive it.

import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { UserError } from '../../src/platform/errors.ts'
import {
  pathOfProgram,
  runProgram,
  type Variables,
  waitUntil,
} from '../../test/support/processes.ts'

/** Runs a program to its end and answers its standard output. */
export async function runCommand(
  program: string,
  args: readonly string[],
  variables: Variables,
): Promise<string> {
  const { status, stdout, stderr } = await runProgram(program, args, variables)
  if (status !== 0) {
    throw new UserError('demo', `${program} ${args.join(' ')} failed: ${stderr.trim()}`)
  }
  return stdout
}

/** The answer of `svc … --json`. */
export async function ask<T>(variables: Variables, ...args: string[]): Promise<T> {
  return JSON.parse(await runCommand('svc', [...args, '--json'], variables)) as T
}

export interface Daemon {
  readonly program: string
  readonly pid: number
  readonly logPath: string
  stop(): Promise<void>
}

/** Starts a program in the background; it outlives the demo when nobody stops it. */
export function startDaemon(
  program: string,
  args: readonly string[],
  variables: Variables,
  logPath: string,
): Daemon {
  const log = openSync(logPath, 'a', 0o600)
  const child = spawn(pathOfProgram(program), args, {
    env: { PATH: process.env['PATH'], SVC_LOG_FORMAT: 'json', ...variables },
    stdio: ['ignore', log, log],
    detached: true,
  })
  closeSync(log)
  child.unref()
  return {
    program,
    pid: child.pid ?? 0,
    logPath,
    stop: () => stopChild(child),
  }
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  // It was let go of when it started; now its end is waited for.
  child.ref()
  const ended = new Promise<void>((done) => child.once('exit', () => done()))
  child.kill('SIGTERM')
  await ended
}

/** Waits for the log line with this message and answers its fields. */
export async function waitForLogLine(
  daemon: Daemon,
  message: string,
): Promise<Readonly<Record<string, unknown>>> {
  return waitUntil(`${daemon.program} to log "${message}"`, () => {
    for (const line of readFileSync(daemon.logPath, 'utf8').split('\n')) {
      if (!line.startsWith('{')) continue
      const fields = JSON.parse(line) as Record<string, unknown>
      if (fields['msg'] === message) return fields
    }
    return undefined
  })
}
