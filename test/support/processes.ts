// Programs of bin/, and others, as processes of their own with an environment of their own.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../src/platform/clock.ts'
import { SvcError } from '../../src/platform/errors.ts'
import { passedOnEnvironment } from './passed-on.ts'
import { findTool, TOOL_PATH } from './tools.ts'

export type Variables = Readonly<Record<string, string>>

export interface Ended {
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunningProgram {
  readonly pid: number
  readonly stdout: () => string
  readonly stderr: () => string
  readonly hasEnded: () => boolean
  readonly ended: Promise<Ended>
  kill(signal: NodeJS.Signals): void
}

const BIN = fileURLToPath(new URL('../../bin/', import.meta.url))
const PROGRAM_TIMEOUT_MS = 30_000
const POLL_MS = 20
/** How long what a program started, and left behind, may hold its output: a run of tests must not hang on it. */
const LEFT_BEHIND_MS = 10_000

/** Whether TEST_BIN names built programs, which then are to run wherever one can. */
export function isBuiltTested(): boolean {
  return process.env['TEST_BIN'] !== undefined
}

/** The path of a program: of TEST_BIN, which has built ones, or the bundle that `npm test` made of it, or of bin/. */
export function pathOfProgram(program: string): string {
  const built = resolve(process.env['TEST_BIN'] ?? process.env['TEST_BUNDLES'] ?? BIN, program)
  return existsSync(built) ? built : resolve(BIN, program)
}

/** Starts a program of bin/; of our own environment it sees what is passed on. */
export function startProgram(
  program: string,
  args: readonly string[],
  variables: Variables,
  input?: string | Buffer,
): RunningProgram {
  return startCommand(pathOfProgram(program), args, variables, input)
}

/** Runs a program of bin/ to its end, whatever that is; one that does not end is killed. */
export async function runProgram(
  program: string,
  args: readonly string[],
  variables: Variables,
  timeoutMs?: number,
): Promise<Ended> {
  return endOf(startProgram(program, args, variables), timeoutMs)
}

/** Starts any tool, with nothing of our environment but where tools are. */
export function startTool(
  name: string,
  args: readonly string[],
  input?: string | Buffer,
): RunningProgram {
  return startCommand(findTool(name) ?? name, args, { PATH: TOOL_PATH }, input)
}

/** Runs any tool to its end; its standard output when it succeeded, else an error. */
export async function runTool(
  name: string,
  args: readonly string[],
  input?: string | Buffer,
  timeoutMs?: number,
): Promise<string> {
  const { status, stdout, stderr } = await endOf(startTool(name, args, input), timeoutMs)
  if (status !== 0) throw new Error(`${name} ${args.join(' ')} failed: ${stderr}`)
  return stdout
}

/** Asks again and again until there is an answer; an error says what it waited for in vain. */
export async function waitUntil<T>(
  what: string,
  ask: () => T | undefined | Promise<T | undefined>,
  timeoutMs = 30_000,
): Promise<T> {
  const deadlineMs = Date.now() + timeoutMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    if (Date.now() > deadlineMs) {
      throw new SvcError('timeout', `waited ${timeoutMs / 1000} s in vain for ${what}`)
    }
    await systemClock.sleep(POLL_MS)
  }
}

export function startCommand(
  command: string,
  args: readonly string[],
  variables: Variables,
  input?: string | Buffer,
): RunningProgram {
  const child = spawn(command, args, {
    env: { ...passedOnEnvironment(), ...variables },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  const stdout = collect(child.stdout)
  const stderr = collect(child.stderr)
  // A program may end without reading its input; how it ended says whether that matters.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(input)
  return {
    pid: child.pid ?? 0,
    stdout,
    stderr,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    ended: waitForEnd(child, stdout, stderr),
    kill: (signal) => child.kill(signal),
  }
}

async function waitForEnd(
  child: ChildProcess,
  stdout: () => string,
  stderr: () => string,
): Promise<Ended> {
  child.once('exit', () => {
    setTimeout(() => {
      child.stdout?.destroy()
      child.stderr?.destroy()
    }, LEFT_BEHIND_MS).unref()
  })
  // 'close' and not 'exit': only then all output has arrived.
  await once(child, 'close')
  return { status: child.exitCode, signal: child.signalCode, stdout: stdout(), stderr: stderr() }
}

async function endOf(running: RunningProgram, timeoutMs = PROGRAM_TIMEOUT_MS): Promise<Ended> {
  const killer = setTimeout(() => running.kill('SIGKILL'), timeoutMs)
  try {
    return await running.ended
  } finally {
    clearTimeout(killer)
  }
}

function collect(stream: NodeJS.ReadableStream | null): () => string {
  const chunks: Buffer[] = []
  stream?.on('data', (chunk: Buffer) => chunks.push(chunk))
  return () => Buffer.concat(chunks).toString('utf8')
}
