// One command, killed once: at a random moment, or at the n-th of its calls to the disk.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../../src/platform/clock.ts'
import { describeError } from '../../../src/platform/errors.ts'
import type { Random } from '../../../test/simulation/seeded-random.ts'
import {
  type Ended,
  pathOfProgram,
  runProgram,
  type RunningProgram,
  startProgram,
} from '../../../test/support/processes.ts'
import { pathOfTool } from '../../../test/support/tools.ts'
import { pickInteger, pickOne } from '../pick.ts'
import { startHub } from './prepared-vaults.ts'
import type { Try, Work } from './works.ts'

/** Its calls that change the disk. */
const CALLS = [
  'pwrite64',
  'write',
  'fsync',
  'fdatasync',
  'rename',
  'unlink',
  'link',
  'mkdir',
] as const
/** Its calls are then counted as one. */
const ONE_FILE_THREAD = { UV_THREADPOOL_SIZE: '1' }
const END_MS_MAX = 60_000

export interface UsualRun {
  readonly ms: number
  /** How often the thread that makes most of them makes each call; empty where another process does the work. */
  readonly calls: ReadonlyMap<string, number>
}

export interface KillOutcome {
  readonly isKilled: boolean
  readonly when: string
  readonly faults: readonly string[]
}

/** Runs it to its end, and counts. */
export async function recordUsualRun(work: Work, root: string, log: string): Promise<UsualRun> {
  const attempt = await work.prepare(root)
  const hub = work.isBesideHub ? await startHub(attempt.environment) : undefined
  const startedMs = performance.now()
  const alone = await runProgram('svc', attempt.args, attempt.environment, END_MS_MAX)
  const ms = performance.now() - startedMs
  if (hub !== undefined) await end(hub, 'SIGTERM')
  if (alone.status !== 0) throw new Error(`${work.name}, not killed: ${alone.stderr}`)
  if (work.isBesideHub) return { ms, calls: new Map() }
  const traced = await work.prepare(root)
  const options = ['-f', '-qq', '-s', '0', '-o', log, '-e', `trace=${CALLS.join(',')}`]
  const { status, stderr } = await runTraced(options, traced)
  if (status !== 0) throw new Error(`${work.name}, under strace: ${stderr}`)
  return { ms, calls: countCalls(await readFile(log, 'utf8')) }
}

export async function killOnce(
  work: Work,
  usual: UsualRun,
  root: string,
  random: Random,
): Promise<KillOutcome> {
  const attempt = await work.prepare(root)
  const isAtCall = usual.calls.size > 0 && random() < 0.5
  const { isKilled, when } = isAtCall
    ? await killAtCall(attempt, usual, random)
    : await killAtMoment(work, attempt, random() * usual.ms)
  const faults: string[] = []
  try {
    // Else the next try finds what the kill has left, which nobody has opened meanwhile.
    if (random() < 0.5) faults.push(...(await attempt.inspect()))
    faults.push(...(await attempt.again()))
  } catch (error) {
    faults.push(describeError(error))
  }
  return { isKilled, when, faults: faults.map((fault) => `${work.name}, killed ${when}: ${fault}`) }
}

async function killAtCall(attempt: Try, { calls }: UsualRun, random: Random) {
  const [call, count] = pickOne(random, [...calls])
  const nth = pickInteger(random, 1, count)
  const inject = `inject=${call}:signal=KILL:when=${nth}`
  const options = ['-f', '-qq', '-o', '/dev/null', '-e', `trace=${call}`, '-e', inject]
  const { signal } = await runTraced(options, attempt)
  return { isKilled: signal === 'SIGKILL', when: `at ${call} ${nth} of ${count}` }
}

async function killAtMoment(work: Work, { args, environment }: Try, afterMs: number) {
  const when = `after ${Math.round(afterMs)} ms`
  const hub = work.isBesideHub ? await startHub(environment) : undefined
  try {
    const svc = startProgram('svc', args, environment)
    const victim = work.victim === 'hub' && hub !== undefined ? hub : svc
    await Promise.race([systemClock.sleep(afterMs), svc.ended])
    const isKilled = !svc.hasEnded()
    if (!victim.hasEnded()) victim.kill('SIGKILL')
    const ended = await svc.ended
    if (victim === hub && isKilled && ended.status !== 0) requireClearMessage(work, ended)
    return { isKilled, when: `${when}, the ${work.victim}` }
  } finally {
    if (hub !== undefined) await end(hub, 'SIGTERM')
  }
}

/** The one who waits for a hub that dies is told so. */
function requireClearMessage({ name }: Work, { status, stderr }: Ended): void {
  if (status === 1 && /^svc: error: .{10,}$/m.test(stderr) && !stderr.includes('internal error'))
    return
  throw new Error(`${name}: svc ended with ${status}: ${stderr}`)
}

async function end(hub: RunningProgram, signal: NodeJS.Signals): Promise<void> {
  if (!hub.hasEnded()) hub.kill(signal)
  await hub.ended
}

function runTraced(options: readonly string[], { args, environment }: Try): Promise<Ended> {
  const program = [...options, pathOfProgram('svc'), ...args]
  return runProgram(
    pathOfTool('strace'),
    program,
    { ...environment, ...ONE_FILE_THREAD },
    END_MS_MAX,
  )
}

/** Lines of strace: `1234 rename("/a", "/b") = 0`. strace counts the calls of each thread by itself. */
function countCalls(log: string): Map<string, number> {
  const byThread = new Map<string, number>()
  for (const [, thread, call] of log.matchAll(/^(\d+) +([a-z_0-9]+)\(/gm)) {
    const key = `${thread} ${call}`
    byThread.set(key, (byThread.get(key) ?? 0) + 1)
  }
  const most = new Map<string, number>()
  for (const [key, count] of byThread) {
    const call = key.split(' ')[1] ?? ''
    most.set(call, Math.max(most.get(call) ?? 0, count))
  }
  return most
}

export function logPathIn(directory: string, { name }: Work): string {
  return join(directory, `${name.replaceAll(' ', '-')}.trace`)
}
