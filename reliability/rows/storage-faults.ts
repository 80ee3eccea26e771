// A disk that fails or is full, at every point of a commit.

import { join } from 'node:path'
import type { ReliabilityRow, RowContext, RowResult } from '../row.ts'
import { startScriptedCa } from '../../test/support/scripted-ca.ts'
import { startHubProcess } from '../../test/support/hub-process.ts'
import {
  type CommitFaults,
  failEveryCall,
  failOneCall,
  prepareCommitFaults,
  verifyLog,
} from '../support/faults/commit-faults.ts'
import {
  fillWhileServing,
  type FullDisk,
  moveToSmallDisk,
  startWhileFull,
  stayAboveFloor,
} from '../support/faults/full-disk.ts'
import {
  failEveryCallOf,
  failInit,
  failStart,
  failStop,
  type ProcessFaults,
} from '../support/faults/process-faults.ts'
import { findMountObstacle } from '../support/faults/small-disk.ts'
import { FAULT_CALLS, findStraceObstacle } from '../support/faults/strace.ts'
import { collectBroken } from '../support/collect-broken.ts'

export const storageFaults: ReliabilityRow = {
  name: 'storage faults',
  promise:
    'on a failing or full disk: 503 or exit, the old or the new state; the hub serves again when the disk does',
  run: tryStorageFaults,
}

const ERRORS = ['EIO', 'ENOSPC'] as const

async function tryStorageFaults(context: RowContext): Promise<RowResult> {
  const obstacle = await findStraceObstacle(join(context.directory, 'strace.log'))
  if (obstacle !== undefined && process.env['CI'] !== 'true') {
    return { tried: 'nothing', broken: [], skipped: obstacle }
  }
  await using stack = new AsyncDisposableStack()
  const ca = stack.use(await startScriptedCa(() => ({ kind: 'sign' })))
  const hub = stack.use(
    await startHubProcess({
      caEnvironment: ca.environment,
      environment: { SVC_LIMIT_EVENTS: '0', SVC_LIMIT_EVENT_BYTES: '0', SVC_LIMIT_ISSUE: '0' },
    }),
  )
  const commits = await prepareCommitFaults(hub)
  const processes: ProcessFaults = { hub, broken: [], injected: 0 }
  const broken: string[] = []
  await collectBroken(broken, 'commits', () =>
    context.setting === 'full'
      ? failAllCommits(commits, context)
      : failSomeCommits(commits, context),
  )
  await verifyLog(commits, 'after all commits')
  await collectBroken(broken, 'starts, stops and inits', () => failProcesses(processes, context))
  await verifyLog(commits, 'after all starts and stops')
  const mountObstacle = await findMountObstacle()
  const isMissed = mountObstacle !== undefined && process.env['CI'] !== 'true'
  const full = isMissed ? undefined : await moveToSmallDisk(hub, stack)
  if (full !== undefined) await collectBroken(broken, 'a full disk', () => fillDisk(full, context))
  const fullDisk =
    full === undefined ? 'no full disk' : `${full.refused} events refused on a full disk`
  return {
    tried:
      `${commits.injected} failing calls in commits, ${commits.kills} of the hubs killed after; ` +
      `${processes.injected} in starts, stops and inits; ` +
      fullDisk,
    broken: [...broken, ...commits.broken, ...processes.broken, ...(full?.broken ?? [])],
    ...(isMissed ? { measured: `no full disk: ${mountObstacle}` } : {}),
  }
}

async function failAllCommits(run: CommitFaults, context: RowContext): Promise<void> {
  for (const kind of run.kinds) {
    for (const error of ERRORS) {
      for (const isLasting of [false, true]) {
        context.progress(`${kind.name}: ${error} ${isLasting ? 'from the n-th call on' : 'once'}`)
        await failEveryCall(run, kind, () => ({ error, isLasting }), 'go on')
      }
    }
    context.progress(`${kind.name}: killed after the fault`)
    const alternating = (nth: number) => ({
      error: nth % 2 === 0 ? ('EIO' as const) : ('ENOSPC' as const),
      isLasting: nth % 4 > 1,
    })
    await failEveryCall(run, kind, alternating, 'kill')
  }
}

/** Every call of an event's commit, and some of the others'. */
async function failSomeCommits(run: CommitFaults, { random }: RowContext): Promise<void> {
  const chooses = () => ({ error: pick(ERRORS, random()), isLasting: random() < 0.5 })
  for (const [index, kind] of run.kinds.entries()) {
    if (index === 0) {
      await failEveryCall(run, kind, chooses, 'go on')
      continue
    }
    const nth = 1 + Math.floor(random() * 20)
    await failOneCall(run, kind, { call: 'pwrite64', nth, ...chooses() }, 'go on')
    await failOneCall(run, kind, { call: 'fsync', nth: 1, ...chooses() }, 'go on')
  }
  const [first] = run.kinds
  if (first === undefined) return
  const nth = 1 + Math.floor(random() * 10)
  await failOneCall(run, first, { call: 'pwrite64', nth, ...chooses() }, 'kill')
  await failOneCall(run, first, { call: 'fsync', nth: 1, ...chooses() }, 'kill')
}

async function failProcesses(run: ProcessFaults, context: RowContext): Promise<void> {
  if (context.setting === 'small') {
    for (const attempt of [failStart, failStop, failInit]) {
      const call = pick(['pwrite64', 'fsync', 'rename'] as const, context.random())
      const nth = 1 + Math.floor(context.random() * 4)
      await attempt(run, { call, nth, isLasting: false, error: pick(ERRORS, context.random()) })
    }
    await failEveryCallOf((fault) => failInit(run, fault), ['fsync'], 1)
    return
  }
  context.progress('starts')
  await failEveryCallOf((fault) => failStart(run, fault), FAULT_CALLS, 1)
  context.progress('stops')
  await failEveryCallOf((fault) => failStop(run, fault), FAULT_CALLS, 1)
  context.progress('inits')
  await failEveryCallOf((fault) => failInit(run, fault), ['fsync', 'rename', 'write'], 1)
  // The pages of an empty database, twice: one is like the other.
  await failEveryCallOf((fault) => failInit(run, fault), ['pwrite64'], 5)
}

async function fillDisk(run: FullDisk, context: RowContext): Promise<void> {
  const isFull = context.setting === 'full'
  context.progress('full disk')
  await fillWhileServing(run)
  const levels = isFull ? [0, 4, 8, 16, 24, 32, 40, 48, 64, 96, 128] : [0]
  for (const kib of levels) await startWhileFull(run, kib * 1024)
  await stayAboveFloor(run, isFull ? 200 : 5)
}

function pick<T>(choices: readonly [T, ...T[]], chance: number): T {
  return choices[Math.floor(chance * choices.length)] ?? choices[0]
}
