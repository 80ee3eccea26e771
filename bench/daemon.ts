// The servers under test: processes of their own, whose log goes to a file so that reading it costs them nothing.

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
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
  /** `msg` of a line of JSON; or what the log has of a program that writes something else. */
  readonly readyMessage: string | RegExp
  /** Those that it may use, as taskset(1) writes them. */
  readonly cores?: string | undefined
}

const READY_MS_MAX = 30_000
const POLL_MS = 2

export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { logPath, readyMessage } = options
  const [program, ...args] = pinned(options.command, options.cores)
  const log = openSync(logPath, 'w', 0o600)
  const startedMs = performance.now()
  const child = spawn(program, args, {
    env: { PATH: process.env['PATH'], SVC_LOG_FORMAT: 'json', ...options.environment },
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  while (!isReady(logPath, readyMessage)) {
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
  cores: string | undefined,
): readonly [string, ...string[]] {
  return cores === undefined ? command : ['taskset', '-c', cores, ...command]
}

/** What the process and its threads have spent so far; cpuMsOfTree counts children too. */
export async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  // proc(5): the name in brackets may hold anything; utime and stime are the 14th and 15th fields, in 1/100 s.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** With what the process spent meanwhile. */
export async function cpuSecondsSpent<Result>(
  pid: number,
  work: () => Promise<Result>,
): Promise<[Result, number]> {
  const before = await cpuSeconds(pid)
  const result = await work()
  return [result, (await cpuSeconds(pid)) - before]
}

export function residentMegabytes(pid: number): Promise<number> {
  return megabytesOf(pid, /^VmRSS:\s+(\d+) kB$/m)
}

/** Since the process began, or since the last one was forgotten. */
export function residentPeakMegabytes(pid: number): Promise<number> {
  return megabytesOf(pid, /^VmHWM:\s+(\d+) kB$/m)
}

/** proc(5), clear_refs. */
export async function forgetResidentPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5')
}

async function megabytesOf(pid: number, line: RegExp): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return (Number(line.exec(status)?.[1]) * 1024) / 1e6
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

function isReady(logPath: string, message: string | RegExp): boolean {
  return typeof message === 'string'
    ? findLine(logPath, message) !== undefined
    : message.test(readFileSync(logPath, 'utf8'))
}

function findLine(path: string, message: string): Readonly<Record<string, unknown>> | undefined {
  const line = readFileSync(path, 'utf8')
    .split('\n')
    .find((text) => text.startsWith('{') && text.endsWith('}') && text.includes(`"${message}"`))
  return line === undefined ? undefined : (JSON.parse(line) as Record<string, unknown>)
}
