// What an operator does to a rollout that is under way. docs/protocol.md RLO-16 to RLO-19.

import type { Clock } from '../../../platform/clock.ts'
import { HubEventType } from '../../../protocol/words.ts'
import { countFailures } from '../../domain/decide-rollout.ts'
import {
  isLoadRollout,
  isRolloutOpen,
  type LoadRollout,
  type Rollout,
} from '../../domain/rollout.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import { type AdminAct, AdminRefusal, type Write } from '../admin-act.ts'
import { sumCounts } from './count-hosts.ts'
import { findItsCargo, findRollout } from './find-rollout.ts'
import { nameRollout, toEntryPayload } from './name-rollout.ts'
import { viewRollout } from './rollout-views.ts'

/** To pause twice is no error. */
export const pauseRollout: Write<'pauseRollout'> = async (writer, request, { actor }) => {
  const rollout = await findOpenRollout(writer, request.rollout)
  if (rollout.state === 'paused') return { acts: [], reply: await viewRollout(writer, rollout) }
  refuseState(rollout, ['running', 'frozen'], 'pause')
  const paused: Rollout = { ...rollout, state: 'paused', changedBy: actor }
  await writer.rollouts.update(paused)
  return {
    acts: [await actOf(writer, HubEventType.rolloutPaused, paused)],
    reply: await viewRollout(writer, paused),
  }
}

/** The hosts that failed until now are accepted: one more freezes the rollout again. */
export const resumeRollout: Write<'resumeRollout'> = async (writer, request, { actor }) => {
  const rollout = await findOpenRollout(writer, request.rollout)
  if (rollout.state === 'running') return { acts: [], reply: await viewRollout(writer, rollout) }
  refuseState(rollout, ['paused', 'frozen'], 'resume')
  const counts = sumCounts(await writer.rollouts.countWaves(rollout.id, rollout.openedAt))
  const { failed, late } = countFailures(rollout, counts)
  // Of a frozen one that nobody has: its only host may have been removed.
  const least = rollout.state === 'frozen' && counts.done === 0 ? 1 : 0
  const resumed: Rollout = {
    ...rollout,
    state: 'running',
    changedBy: actor,
    reason: null,
    soakedMs: 0,
    tolerated: Math.max(rollout.tolerated, failed + late, least),
  }
  await writer.rollouts.update(resumed)
  return {
    acts: [await actOf(writer, HubEventType.rolloutResumed, resumed, { accepted: failed + late })],
    reply: await viewRollout(writer, resumed),
    news: { areRolloutsChanged: true },
  }
}

/** The hub takes back what can be taken back, a slice at a time; nobody else is given anything, or asked. */
export const undoRollout: Write<'undoRollout', { readonly clock: Clock }> = async (
  writer,
  request,
  { actor },
) => {
  const rollout = await findOpenRollout(writer, request.rollout)
  if (rollout.subject.kind === 'roots') throw forwardOnly(rollout)
  if (rollout.state === 'undoing') return { acts: [], reply: await viewRollout(writer, rollout) }
  const undoing: Rollout = { ...rollout, state: 'undoing', changedBy: actor, cursor: '' }
  await writer.rollouts.update(undoing)
  const good = isLoadRollout(rollout) && { versao_boa: await makeGoodVersion(writer, rollout) }
  const more = { hosts: rollout.given, ...good }
  return {
    acts: [await actOf(writer, HubEventType.rolloutUndone, undoing, more)],
    reply: await viewRollout(writer, undoing),
    news: { areRolloutsChanged: true },
  }
}

/** docs/protocol.md RLO-31. */
function forwardOnly({ id, state }: Rollout): AdminRefusal {
  return new AdminRefusal(
    'rollout_state',
    `rollout ${id} is of roots, and no agent goes back to an earlier set: pause it, and all others keep theirs; the next set takes its place`,
    { state },
  )
}

/**
 * The carga gets a number that no host has, with the names and the content that it always had: an agent does not go back to a lower one. Those
 * that were given the other version get this one.
 */
async function makeGoodVersion(writer: StoreWriter, rollout: LoadRollout): Promise<number> {
  const version = rollout.subject.version + 1
  await writer.updateCargo({ ...(await findItsCargo(writer, rollout)), version })
  return version
}

async function findOpenRollout(reader: StoreReader, wanted: string): Promise<Rollout> {
  const found = await findRollout(reader, wanted)
  const { id, state } = found
  if (isRolloutOpen(found)) return found
  throw new AdminRefusal('rollout_over', `rollout ${id} is ${state}`, { state })
}

function refuseState(
  { id, state }: Rollout,
  from: readonly Rollout['state'][],
  act: 'pause' | 'resume',
): void {
  if (from.includes(state)) return
  throw new AdminRefusal('rollout_state', `rollout ${id} is ${state}: there is nothing to ${act}`, {
    state,
  })
}

async function actOf(
  reader: StoreReader,
  type: HubEventType,
  rollout: Rollout,
  more: Readonly<Record<string, unknown>> = {},
): Promise<AdminAct> {
  const payload = toEntryPayload(rollout, await nameRollout(reader, rollout))
  return { type, payload: { ...payload, wave: rollout.wave + 1, ...more } }
}
