// One hook in a process group of its own: a clean environment, a minute, and then the whole group is killed.
//
// The group must not outlive the agent either, however the agent ends: the next one runs the hook again (HOK-5), and
// two at once would undo each other's work. So the group is led by a guard, which holds the other end of a socket of
// ours. When we are gone the kernel closes our end; the guard reads the end of file and kills its group. It also holds
// the agent's lock, so that the next agent starts only after that, and closes both for the hook itself: a service that
// a hook leaves in the background keeps nobody from starting. A shell is the smallest guard that every host has. It
// interprets GUARD alone; the hook and its arguments are handed through as they are.

import { type ChildProcess, spawn } from 'node:child_process'
import { userInfo } from 'node:os'
import { Readable } from 'node:stream'

export interface HookCommand {
  readonly path: string
  readonly arguments: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly workingDirectory: string
  readonly lockDescriptor: number | undefined
  readonly timeoutMs: number
}

export interface HookResult {
  /** Undefined when it exited with 0 in time. */
  readonly failure: string | undefined
  readonly exitCode: number | null
  readonly durationMs: number
  /** The first part of what it wrote to stdout and stderr. */
  readonly output: string
  /** The last part of it. */
  readonly outputEnd: string
}

/** Descriptor 3 is the socket, 4 the lock. Ends as the hook does; by a signal N with the status 128 + N. */
const GUARD = `
{ read -r _ <&3 || kill -s KILL -- -$$; } >/dev/null 2>&1 &
unset PWD OLDPWD SHLVL
"$@" 3<&- 4<&-
status=$?
kill -s KILL $! 2>/dev/null
wait $! 2>/dev/null
exit $status`

const OUTPUT_BYTES_MAX = 64 * 1024
const OUTPUT_END_BYTES_MAX = 16 * 1024
/** How long the last of the output may take after the exit. */
const OUTPUT_GRACE_MS = 250

export async function runHook(command: HookCommand): Promise<HookResult> {
  const startedMs = performance.now()
  const child = spawn('/bin/sh', ['-c', GUARD, 'hook', command.path, ...command.arguments], {
    cwd: command.workingDirectory,
    env: { ...command.environment },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', command.lockDescriptor ?? 'ignore'],
    // A process group of its own, which can be killed as one.
    detached: true,
  })
  // First of all: without descriptors to spare a child has no streams, only an error that must find a listener.
  const exit = waitForExit(child, command.timeoutMs)
  const output = new BoundedOutput([child.stdout, child.stderr])
  child.stdio?.[3]?.on('error', () => undefined)
  const { failure, exitCode } = await exit
  return {
    failure,
    exitCode,
    durationMs: Math.round(performance.now() - startedMs),
    ...output.finish(),
  }
}

/** For HOME. A user of a container need not be known to the system, and then has no home. */
export function ownHome(): string {
  try {
    return userInfo().homedir
  } catch {
    return '/'
  }
}

function waitForExit(
  child: ChildProcess,
  timeoutMs: number,
): Promise<{ failure: string | undefined; exitCode: number | null }> {
  return new Promise((resolve) => {
    let timedOut = false
    // tidy: a process lives in real time, whatever a Clock says.
    const timer = setTimeout(() => {
      timedOut = true
      killGroup(child)
    }, timeoutMs)
    child.once('error', (error) => {
      clearTimeout(timer)
      resolve({ failure: `cannot be run: ${error.message}`, exitCode: null })
    })
    child.once('exit', (exitCode, signal) => {
      clearTimeout(timer)
      // Somebody killed the guard; the hook must not go on without it.
      if (signal !== null) killGroup(child)
      const result = { failure: describeExit(exitCode, signal, timedOut, timeoutMs), exitCode }
      // What the hook left running in the background may keep its output open for ever.
      // tidy: as above.
      const grace = setTimeout(() => resolve(result), OUTPUT_GRACE_MS)
      child.once('close', () => {
        clearTimeout(grace)
        resolve(result)
      })
    })
  })
}

function describeExit(
  exitCode: number | null,
  signal: string | null,
  timedOut: boolean,
  timeoutMs: number,
): string | undefined {
  if (timedOut) return `killed after ${timeoutMs / 1000} s`
  if (signal !== null) return `ended by ${signal}`
  return exitCode === 0 ? undefined : `exit status ${exitCode}`
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It ended by itself in this very moment.
  }
}

class BoundedOutput {
  readonly #streams: readonly Readable[]
  readonly #chunks: Buffer[] = []
  #size = 0
  #end: Buffer = Buffer.alloc(0)

  constructor(streams: readonly (Readable | null | undefined)[]) {
    this.#streams = streams.filter((stream) => stream instanceof Readable)
    for (const stream of this.#streams) {
      stream.on('data', (chunk: Buffer) => this.#add(chunk))
      stream.on('error', () => undefined)
    }
  }

  /** What has come so far; the streams are let go, so that nothing in the background holds on to us. */
  finish(): Pick<HookResult, 'output' | 'outputEnd'> {
    for (const stream of this.#streams) stream.destroy()
    const output = Buffer.concat(this.#chunks).toString('utf8')
    return { output, outputEnd: this.#end.toString('utf8') }
  }

  #add(chunk: Buffer): void {
    this.#end = Buffer.concat([this.#end, chunk]).subarray(-OUTPUT_END_BYTES_MAX)
    const room = OUTPUT_BYTES_MAX - this.#size
    if (room <= 0) return
    this.#chunks.push(chunk.subarray(0, room))
    this.#size += Math.min(room, chunk.length)
  }
}
