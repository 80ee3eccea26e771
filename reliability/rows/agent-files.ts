// The agent killed between any two of its file operations, and at random moments.

import { join } from 'node:path'
import { systemClock } from '../../src/platform/clock.ts'
import { describeError } from '../../src/platform/errors.ts'
import type { Random } from '../../test/simulation/seeded-random.ts'
import { startDevCaProcess } from '../../test/support/dev-ca-process.ts'
import { startHubProcess } from '../../test/support/hub-process.ts'
import { startProgram } from '../../test/support/processes.ts'
import type { ReliabilityRow, RowContext, RowResult } from '../row.ts'
import { findMissingStrace } from '../support/missing-strace.ts'
import {
  enrolling,
  installing,
  type KillableWork,
  rotating,
  switchingTargets,
} from '../support/killable-work.ts'
import { type KillPoint, recordKillPoints, runAgentKilledAt } from '../support/kill-points.ts'
import { pickOne } from '../support/pick.ts'

/** Times before the recorded one and chosen instants for each work; random kills in all. */
const COUNTS = {
  small: { before: 0, pointsMax: 2, random: 4 },
  full: { before: 2, pointsMax: Infinity, random: 500 },
}
/** For each kill: the work may have ended before. */
const TRIES_MAX = 5
const HUB = {
  SVC_SERVER_CN: 'localhost',
  SVC_LIMIT_EVENTS: '0',
  SVC_LIMIT_EVENT_BYTES: '0',
  SVC_LIMIT_ISSUE: '0',
  SVC_LIMIT_ENROLL_FAILURES: '0',
}

export const agentFiles: ReliabilityRow = {
  name: "agent's files",
  promise:
    'after any kill: matching pairs, whole sets, closed keys, and the agent recovers by itself',
  run: async (context) => {
    const missing = await findMissing()
    if (missing !== undefined) return { tried: 'nothing', broken: [], skipped: missing }
    await using stack = new AsyncDisposableStack()
    const ca = stack.use(await startDevCaProcess())
    const hub = stack.use(
      await startHubProcess({ caEnvironment: ca.environment, environment: HUB }),
    )
    const { directory } = context
    const works = [
      enrolling(hub, directory),
      ...(await Promise.all([
        rotating(hub, directory),
        installing(hub, directory),
        switchingTargets(hub, directory),
      ])),
    ]
    return await killThem(context, works)
  },
}

async function findMissing(): Promise<string | undefined> {
  if (process.geteuid?.() !== 0) return 'only root has places for targets'
  return findMissingStrace()
}

interface Tally {
  points: number
  pointsKilled: number
  randomKilled: number
  readonly broken: string[]
}

async function killThem(context: RowContext, works: readonly KillableWork[]): Promise<RowResult> {
  const tallies = await Promise.all(works.map((work) => killOne(context, work)))
  const sum = (of: (tally: Tally) => number): number =>
    tallies.reduce((total, tally) => total + of(tally), 0)
  const counts = works.map(({ name }, index) => `${name} ${tallies[index]?.points ?? 0}`)
  return {
    tried:
      `killed between two file operations ${sum(({ pointsKilled }) => pointsKilled)} times ` +
      `(of ${sum(({ points }) => points)} instants: ${counts.join(', ')}) ` +
      `and ${sum(({ randomKilled }) => randomKilled)} times at random`,
    broken: tallies.flatMap(({ broken }) => broken),
  }
}

async function killOne(context: RowContext, work: KillableWork): Promise<Tally> {
  const { directory, setting, random } = context
  const tally: Tally = { points: 0, pointsKilled: 0, randomKilled: 0, broken: [] }
  // What is there before decides how many operations there are: twice done, it is the same from one time to the next.
  for (let times = 0; times < COUNTS[setting].before; times += 1) {
    await work.prepare()
    tally.broken.push(...(await work.recover()).map((fault) => `${work.name}, at first: ${fault}`))
  }
  const started = performance.now()
  const logPath = join(directory, `${work.name.replaceAll(' ', '-')}.trace`)
  const { ended, points } = await recordKillPoints(await work.prepare(), logPath)
  const usualMs = performance.now() - started
  if (ended.status !== 0) tally.broken.push(`${work.name}, not killed: ${ended.stderr}`)
  tally.broken.push(...(await work.recover()).map((fault) => `${work.name}, not killed: ${fault}`))
  tally.points = points.length
  for (const point of choose(points, COUNTS[setting].pointsMax, random)) {
    // A run may have an operation less than the recorded one, and come to its end.
    let isKilled = false
    for (let tries = TRIES_MAX; !isKilled && tries > 0; tries -= 1) {
      ;({ isKilled } = await runAgentKilledAt(point, await work.prepare()))
      await look(work, `after ${point.after}, write ${point.write}`, tally)
    }
    if (isKilled) tally.pointsKilled += 1
  }
  if (tally.pointsKilled === 0) tally.broken.push(`${work.name}: strace killed nothing`)
  context.progress(`${work.name}: ${tally.pointsKilled} of ${points.length} points`)
  const wanted = COUNTS[setting].random / 4
  for (let tries = wanted * TRIES_MAX; tally.randomKilled < wanted && tries > 0; tries -= 1) {
    const afterMs = random() * usualMs
    if (await killAfter(work, afterMs)) tally.randomKilled += 1
    await look(work, `after ${Math.round(afterMs)} ms`, tally)
  }
  context.progress(`${work.name}: ${tally.randomKilled} random kills`)
  return tally
}

async function look(work: KillableWork, when: string, { broken }: Tally): Promise<void> {
  const faults = await work.inspect()
  const lasting = await work.recover().catch((error: unknown) => [describeError(error)])
  broken.push(...faults.map((fault) => `${work.name}, killed ${when}: ${fault}`))
  broken.push(...lasting.map((fault) => `${work.name}, started again, killed ${when}: ${fault}`))
}

/** False when it had ended before. */
async function killAfter(work: KillableWork, afterMs: number): Promise<boolean> {
  const { args, environment } = await work.prepare()
  const running = startProgram('svc-agent', args, environment)
  const enough = new AbortController()
  const pause = systemClock.sleep(afterMs, enough.signal).catch(() => undefined)
  await Promise.race([pause, running.ended])
  enough.abort()
  running.kill('SIGKILL')
  return (await running.ended).signal === 'SIGKILL'
}

function choose(points: readonly KillPoint[], max: number, random: Random): readonly KillPoint[] {
  if (points.length <= max) return points
  return Array.from({ length: max }, () => pickOne(random, points))
}
