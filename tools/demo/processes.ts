// The programs of the demo: the real ones of bin/, as separate processes with an environment of their own.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { UserError } from '../../src/platform/errors.ts'
import { waitUntil } from './wait-until.ts'

export type Variables = Readonly<Record<string, string>>

const BIN = fileURLToPath(new URL('../../bin/', import.meta.url))
const COMMAND_TIMEOUT_MS = 30_000

/** Runs a program to its end and answers its standard output. */
export function runCommand(program: string, args: readonly string[], variables: Variables): string {
  const child = spawnSync(resolve(BIN, program), args, {
    env: { PATH: process.env['PATH'], ...variables },
    encoding: 'utf8',
    timeout: COMMAND_TIMEOUT_MS,
  })
  if (child.status !== 0) {
    throw new UserError('demo', `${program} ${args.join(' ')} failed: ${child.stderr.trim()}`)
  }
  return child.stdout
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
  const child = spawn(resolve(BIN, program), args, {
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
