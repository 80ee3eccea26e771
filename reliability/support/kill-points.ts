// Kills a program of ours at a chosen file operation. With one thread for file operations the kernel sees them one
// after the other, and after each of them that thread writes to an event descriptor: to kill before the n-th write of
// that thread is to kill between two operations, or before the bytes of a file are written.

import { readFile } from 'node:fs/promises'
import {
  type Ended,
  pathOfProgram,
  runProgram,
  type Variables,
} from '../../test/support/processes.ts'
import { pathOfTool } from '../../test/support/tools.ts'

/** An instant between two operations. */
export interface KillPoint {
  /** Before which write of its thread, from 1. */
  readonly write: number
  /** The last change of the disk before it, when it was recorded. */
  readonly after: string
}

export interface ProgramRun {
  readonly args: readonly string[]
  readonly environment: Variables
}

const CHANGES =
  'mkdir,mkdirat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,rmdir,' +
  'chmod,fchmod,fchmodat,chown,fchown,fchownat,ftruncate,fsync,fdatasync,pwrite64'
const ONE_FILE_THREAD = { UV_THREADPOOL_SIZE: '1' }

/** Runs svc-agent to its end and lists the instants; the run itself is an ordinary one. */
export async function recordKillPoints(
  { args, environment }: ProgramRun,
  logPath: string,
): Promise<{ readonly ended: Ended; readonly points: readonly KillPoint[] }> {
  const traced = `trace=write,openat,${CHANGES}`
  const options = ['--seccomp-bpf', '-o', logPath, '-e', traced]
  const ended = await traceAgent(options, { args, environment })
  return { ended, points: findKillPoints(await readFile(logPath, 'utf8')) }
}

/** True when it was killed there; false when it ended before it came to that. */
export async function runAgentKilledAt(
  { write }: KillPoint,
  run: ProgramRun,
): Promise<{ readonly isKilled: boolean; readonly ended: Ended }> {
  // Without --seccomp-bpf, under which strace 6.1 injects no signal.
  const injected = `inject=write:signal=KILL:when=${write}`
  const ended = await traceAgent(['-o', '/dev/null', '-e', 'trace=write', '-e', injected], run)
  return { isKilled: ended.signal === 'SIGKILL', ended }
}

function traceAgent(
  straceArgs: readonly string[],
  { args, environment }: ProgramRun,
): Promise<Ended> {
  return runProgram(
    pathOfTool('strace'),
    ['-f', '-qq', ...straceArgs, pathOfProgram('svc-agent'), ...args],
    { ...environment, ...ONE_FILE_THREAD },
  )
}

/** Lines of strace: `1234 rename("/a", "/b") = 0`. */
function findKillPoints(log: string): KillPoint[] {
  const lines = log.split('\n').flatMap((line) => {
    const [, thread, call, rest] = /^(\d+) +([a-z_0-9]+)\((.*)$/.exec(line) ?? []
    return thread === undefined || call === undefined ? [] : [{ thread, call, rest: rest ?? '' }]
  })
  const syncs = lines.filter(({ call }) => call === 'fsync' || call === 'mkdir')
  const fileThread = mostFrequent(syncs.map(({ thread }) => thread))
  const points: KillPoint[] = []
  let writes = 0
  let change: string | undefined
  for (const { call, rest } of lines.filter(({ thread }) => thread === fileThread)) {
    if (call === 'write') {
      writes += 1
      // Every one from the first change on: how often is looked before something is changed differs a little from one
      // time to the next.
      if (change !== undefined) points.push({ write: writes, after: change })
    }
    // Eight bytes tell the loop that an operation is done; all other writes go into a file.
    const isChange =
      call === 'write' ? !/ 8\) /.test(rest) : call !== 'openat' || rest.includes('O_CREAT')
    if (isChange) change = `${call}(${rest.slice(0, 120)}`
  }
  return points
}

function mostFrequent(values: readonly string[]): string | undefined {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0]
}
