// The servers under test: processes of their own, whose log goes to a file so that reading it costs them nothing.

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { UserError } from '../src/platform/errors.ts'
import { systemClock } from '../src/platform/clock.ts'

export interface Daemon extends AsyncDisposable {
  readonly pid: number
  /** From its start to its log line; to the nearest two milliseconds. */
  readonly readyMs: number
  /** The port that it logged with this message. */
  portOf(message: string): number
}

export interface DaemonOptions {
  readonly command: readonly [string, ...string[]]
  readonly environment: Readonly<Record<string, string>>
  readonly logPath: string
  readonly readyMessage: string
  /** The one core that it may use. */
  readonly core?: number | undefined
}

const READY_MS_MAX = 30_000
const POLL_MS = 2

export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { logPath, readyMessage } = options
  const [program, ...args] = pinned(options.command, options.core)
  const log = openSync(logPath, 'w', 0o600)
  const startedMs = performance.now()
  const child = spawn(program, args, {
    env: { PATH: process.env['PATH'], SVC_LOG_FORMAT: 'json', ...options.environment },
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  while (findLine(logPath, readyMessage) === undefined) {
    const isLate = performance.now() - startedMs > READY_MS_MAX
    if (child.exitCode !== null || isLate) {
      child.kill('SIGKILL')
      throw new UserError('bench', `${program} did not start: ${readFileSync(logPath, 'utf8')}`)
    }
    await systemClock.sleep(POLL_MS)
  }
  return {
    pid: child.pid ?? 0,
    readyMs: performance.now() - startedMs,
    portOf: (message) => Number(findLine(logPath, message)?.['port']),
    [Symbol.asyncDispose]: () => stop(child),
  }
}

/** `taskset` replaces itself by the program, so pid and signals are the program's own. */
export function pinned(
  command: readonly [string, ...string[]],
  core: number | undefined,
): readonly [string, ...string[]] {
  return core === undefined ? command : ['taskset', '-c', String(core), ...command]
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

function findLine(path: string, message: string): Readonly<Record<string, unknown>> | undefined {
  const line = readFileSync(path, 'utf8')
    .split('\n')
    .find((text) => text.startsWith('{') && text.endsWith('}') && text.includes(`"${message}"`))
  return line === undefined ? undefined : (JSON.parse(line) as Record<string, unknown>)
}
