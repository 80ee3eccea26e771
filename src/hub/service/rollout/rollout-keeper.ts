// Opens the waves of rollouts, one after the other: looks at what their hosts did, decides, and acts in a commit in which it decides once
// more. What it knows is in the store, so another hub, or the same one after a crash, goes on where it was. docs/protocol.md RLO.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../../platform/clock.ts'
import { describeError } from '../../../platform/errors.ts'
import type { Logger } from '../../../platform/logger.ts'
import { createWakeablePause } from '../../../platform/wakeable-pause.ts'
import type { RolloutId } from '../../../protocol/identifiers.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { AgentNotifier } from '../../domain/agent-notifier.ts'
import { decideRollout, type RolloutVerdict } from '../../domain/decide-rollout.ts'
import { isInForce } from '../../domain/freeze.ts'
import {
  isLastWave,
  isRolloutOpen,
  isRotationRollout,
  isUpdateRollout,
  type Rollout,
} from '../../domain/rollout.ts'
import { advanceTimes, type RolloutWatch } from '../../domain/rollout-watch.ts'
import type { Store, StoreWriter } from '../../store/store.ts'
import type { FleetChanges } from '../cargo/fleet-changes.ts'
import { recordHubAct } from '../hub-acts.ts'
import { type AskPace, createAskPace } from './ask-pace.ts'
import { sumCounts } from './count-hosts.ts'
import { nameRollout, type RolloutName, toEntryPayload } from './name-rollout.ts'
import { actsOf, giveSlice, planWave } from './wave-slices.ts'
import type { GivenSlice } from './rollout-acts.ts'

export interface RolloutKeeper {
  /** There may be something to do. */
  wake(): void
  /** Works until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
  /** Looks at each open rollout once; whether one of them has more to do at once. */
  look(): Promise<boolean>
}

export interface RolloutKeeperDependencies {
  readonly store: Store
  /** Where a slice waits for acts on the same entregas. */
  readonly changes: Pick<FleetChanges, 'inTurn'>
  readonly clock: Clock
  readonly log: Logger
  readonly notifier?: Pick<AgentNotifier, 'announce'>
}

/** Between two looks while a rollout is open. The entregas are counted only when something was committed since. */
export const LOOK_MS = 2000
/** The times of a wave are written down so often: a hub that is killed counts at the most that again. */
const NOTED_MS = 15_000
/** With no rollout open nothing but a freeze that ends makes work without waking us. */
const IDLE_MS = 60_000

type Keeping = RolloutKeeperDependencies & { readonly pace: AskPace }

export function createRolloutKeeper(dependencies: RolloutKeeperDependencies): RolloutKeeper {
  const { clock, log, store } = dependencies
  const keeping = { ...dependencies, pace: createAskPace() }
  const { wake, pause } = createWakeablePause(clock)
  const watches = new Map<RolloutId, RolloutWatch>()
  const look = async (): Promise<boolean> => {
    await endFreezeThatIsOver(dependencies)
    const open = await store.reader.rollouts.listOpen()
    for (const id of watches.keys()) if (!open.some((one) => one.id === id)) watches.delete(id)
    let isBusy = false
    for (const rollout of open) isBusy = (await lookAt(keeping, watches, rollout)) || isBusy
    return isBusy
  }
  return {
    wake,
    look,
    run: async (signal) => {
      // Another hub may have had them meanwhile.
      watches.clear()
      while (!signal.aborted) {
        let isBusy = false
        try {
          isBusy = await look()
        } catch (error) {
          log.warn({ reason: describeError(error) }, 'Look at the rollouts failed')
        }
        if (isBusy) await nextTurn()
        else await pause((await hasWork(store)) ? LOOK_MS : IDLE_MS, signal)
      }
    },
  }
}

async function hasWork({ reader }: Store): Promise<boolean> {
  const open = await reader.rollouts.listOpen()
  return open.some(({ state }) => state === 'running' || state === 'undoing')
}

async function lookAt(
  keeping: Keeping,
  watches: Map<RolloutId, RolloutWatch>,
  rollout: Rollout,
): Promise<boolean> {
  const { store, clock, pace } = keeping
  const { reader } = store
  const now = clock.now()
  const last = watches.get(rollout.id)
  const timed = advanceTimes(rollout, last, { now, stepMsMax: 2 * LOOK_MS })
  const verdict = await decide(reader, timed, now)
  const isSoaking = verdict.next === 'wait' && verdict.isSoaking
  const { openMs, soakedMs: passedMs } = timed
  const soakedMs = verdict.next === 'wait' && !isSoaking ? 0 : passedMs
  const times = { openMs, soakedMs }
  watches.set(rollout.id, { wave: rollout.wave, lookedAt: now, isSoaking, ...times })
  if (asksHosts(rollout, verdict) && !pace.isOpen(now)) return false
  if (verdict.next !== 'wait') return act(keeping, { ...timed, soakedMs }, verdict)
  if (rollout.state === 'running' && isWorthNoting(rollout, times)) {
    await noteTimes(store, rollout, times)
  }
  return false
}

/** To do something at once, each of them at the same other place: at the CA, or where releases are. */
function asksHosts(rollout: Rollout, { next }: RolloutVerdict): boolean {
  return next === 'give' && (isRotationRollout(rollout) || isUpdateRollout(rollout))
}

type Times = Pick<Rollout, 'openMs' | 'soakedMs'>

async function decide(
  reader: Store['reader'],
  rollout: Rollout,
  now: Date,
): Promise<RolloutVerdict> {
  // Only behind the last wave it matters who is silent.
  const silentSince = isLastWave(rollout) && rollout.openMs >= rollout.lateMs
  const counts = sumCounts(
    await reader.rollouts.countWaves(rollout.id, silentSince ? rollout.openedAt : undefined),
  )
  const freeze = await reader.rollouts.findFreeze()
  return decideRollout({ rollout, counts, freeze, now })
}

function isWorthNoting(known: Rollout, { openMs, soakedMs }: Times): boolean {
  if (soakedMs < known.soakedMs) return true
  return openMs - known.openMs >= NOTED_MS || soakedMs - known.soakedMs >= NOTED_MS
}

function noteTimes(store: Store, { id, wave }: Rollout, times: Times): Promise<void> {
  return store.write(async (writer) => {
    const current = await writer.rollouts.find(id)
    if (current?.state !== 'running' || current.wave !== wave || !current.isGiven) return
    await writer.rollouts.update({ ...current, ...times })
  })
}

type Acted = GivenSlice & { readonly name: RolloutName }

/** Whether it did something. In the commit everything is looked at once more: somebody may have paused it, a host may have failed. */
async function act(
  { store, changes, clock, log, notifier, pace }: Keeping,
  timed: Rollout,
  expected: RolloutVerdict,
): Promise<boolean> {
  const now = clock.now()
  const plan =
    expected.next === 'open wave'
      ? await planWave(store.reader, timed, expected.wave, now)
      : undefined
  const acted = await changes.inTurn(() =>
    store.write(async (writer): Promise<Acted | undefined> => {
      const current = await writer.rollouts.find(timed.id)
      if (current === undefined || !isSameWave(current, timed)) return undefined
      const { openMs, soakedMs } = timed
      const rollout = { ...current, openMs, soakedMs }
      const verdict = await decide(writer, rollout, now)
      if (verdict.next !== expected.next) return undefined
      const next = await perform(writer, { rollout, verdict, plan, now })
      await writer.tellOthers({ agents: next.agents })
      return { ...next, name: await nameRollout(writer, rollout) }
    }),
  )
  if (acted === undefined) return false
  if (asksHosts(timed, expected)) pace.note(now, acted.agents.length)
  notifier?.announce(acted.agents)
  tell(log, acted, expected)
  return isRolloutOpen(acted.rollout) && acted.rollout.state !== 'frozen'
}

function isSameWave(current: Rollout, seen: Rollout): boolean {
  const { state, wave, threshold, isGiven, cursor, tolerated } = seen
  return (
    current.state === state &&
    current.wave === wave &&
    current.threshold === threshold &&
    current.isGiven === isGiven &&
    current.cursor === cursor &&
    current.tolerated === tolerated
  )
}

interface Performance {
  readonly rollout: Rollout
  readonly verdict: RolloutVerdict
  readonly plan: Awaited<ReturnType<typeof planWave>> | undefined
  readonly now: Date
}

async function perform(writer: StoreWriter, performance: Performance): Promise<GivenSlice> {
  const { rollout, verdict, now } = performance
  if (verdict.next === 'give') return giveSlice(writer, rollout, now)
  if (verdict.next === 'finish') return finish(writer, rollout, now)
  if (verdict.next === 'take back') return takeBack(writer, rollout, now)
  if (verdict.next === 'open wave') return openWave(writer, performance)
  if (verdict.next === 'wait') return { rollout, agents: [] }
  const { reason } = verdict
  const frozen: Rollout = { ...rollout, state: 'frozen', reason }
  await writer.rollouts.update(frozen)
  await record(writer, HubEventType.rolloutFrozen, frozen, now, { reason })
  return { rollout: frozen, agents: [] }
}

async function openWave(
  writer: StoreWriter,
  { rollout, plan, now }: Performance,
): Promise<GivenSlice> {
  // One that is counted once more is not another one.
  const isAnother = plan?.wave !== rollout.wave || rollout.given === 0
  const opened: Rollout = { ...rollout, ...plan, openedAt: isAnother ? now : rollout.openedAt }
  await writer.rollouts.update(opened)
  if (isAnother) {
    const more = { waves: opened.waves.length, hosts: opened.wanted }
    await record(writer, HubEventType.rolloutWaveOpened, opened, now, more)
  }
  return { rollout: opened, agents: [] }
}

async function takeBack(writer: StoreWriter, rollout: Rollout, now: Date): Promise<GivenSlice> {
  const { isComplete, ...taken } = await actsOf(rollout).takeBack(writer, rollout, now)
  const end = isComplete && ({ state: 'undone', endedAt: now } as const)
  const after: Rollout = { ...taken.rollout, ...end }
  await writer.rollouts.update(after)
  return { ...taken, rollout: after }
}

async function finish(writer: StoreWriter, rollout: Rollout, now: Date): Promise<GivenSlice> {
  const { isComplete, ...given } = await actsOf(rollout).finish(writer, rollout, now)
  const end = isComplete && ({ state: 'done', endedAt: now } as const)
  const after: Rollout = { ...given.rollout, ...end }
  await writer.rollouts.update(after)
  if (isComplete) {
    await record(writer, HubEventType.rolloutDone, after, now, { hosts: after.given })
  }
  return { ...given, rollout: after }
}

async function record(
  writer: StoreWriter,
  type: HubEventType,
  rollout: Rollout,
  at: Date,
  more: Readonly<Record<string, unknown>>,
): Promise<void> {
  const payload = toEntryPayload(rollout, await nameRollout(writer, rollout))
  const wave = { wave: rollout.wave + 1 }
  await recordHubAct(writer, at, type, { actor: 'hub', ...payload, ...wave, ...more })
}

function tell(log: Logger, { rollout, name }: Acted, { next }: RolloutVerdict): void {
  const { id, wave, wanted, reason } = rollout
  const fields = { rollout: id, of: name.text, wave: wave + 1 }
  if (next === 'freeze') log.warn({ ...fields, reason }, 'Rollout frozen')
  else if (next === 'open wave') log.info({ ...fields, hosts: wanted }, 'Wave of a rollout opened')
  else if (rollout.state === 'done') log.info(fields, 'Rollout done')
  else if (rollout.state === 'undone') log.info(fields, 'Rollout undone')
}

async function endFreezeThatIsOver({ store, clock }: RolloutKeeperDependencies): Promise<void> {
  const isOver = (freeze: Awaited<ReturnType<Store['reader']['rollouts']['findFreeze']>>) =>
    freeze !== undefined && freeze.endedAt === null && !isInForce(freeze, clock.now())
  if (!isOver(await store.reader.rollouts.findFreeze())) return
  await store.write(async (writer) => {
    const freeze = await writer.rollouts.findFreeze()
    if (freeze === undefined || !isOver(freeze)) return
    const now = clock.now()
    await writer.rollouts.endFreeze(freeze.id, now)
    const { until, why } = freeze
    await recordHubAct(writer, now, HubEventType.freezeEnded, {
      actor: 'hub',
      until: until.toISOString(),
      why,
    })
  })
}
