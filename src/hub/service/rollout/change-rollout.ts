// What an operator does to a rollout that is under way. docs/protocol.md RLO-16 to RLO-19.

import type { Clock } from '../../../platform/clock.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { Cargo } from '../../domain/cargo.ts'
import { countFailures } from '../../domain/decide-rollout.ts'
import { isRolloutOpen, type Rollout } from '../../domain/rollout.ts'
import type { StoreReader } from '../../store/store.ts'
import { type AdminAct, AdminRefusal, type Write } from '../admin-act.ts'
import { sumCounts } from './count-hosts.ts'
import { findRollout } from './find-rollout.ts'
import { toAdminRollout } from './rollout-views.ts'

/** To pause twice is no error. */
export const pauseRollout: Write<'pauseRollout'> = async (writer, request, { actor }) => {
  const { rollout, cargo } = await findOpenRollout(writer, request.rollout)
  if (rollout.state === 'paused') return { acts: [], reply: toAdminRollout(rollout, cargo) }
  refuseState(rollout, ['running', 'frozen'], 'pause')
  const paused: Rollout = { ...rollout, state: 'paused', changedBy: actor }
  await writer.rollouts.update(paused)
  return {
    acts: [actOf(HubEventType.rolloutPaused, paused, cargo)],
    reply: toAdminRollout(paused, cargo),
  }
}

/** The hosts that failed until now are accepted: one more freezes the rollout again. */
export const resumeRollout: Write<'resumeRollout'> = async (writer, request, { actor }) => {
  const { rollout, cargo } = await findOpenRollout(writer, request.rollout)
  if (rollout.state === 'running') return { acts: [], reply: toAdminRollout(rollout, cargo) }
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
    acts: [actOf(HubEventType.rolloutResumed, resumed, cargo, { accepted: failed + late })],
    reply: toAdminRollout(resumed, cargo),
    news: { areRolloutsChanged: true },
  }
}

/**
 * The carga gets a number that no host has, with the names and the content that it always had: an agent does not go back to a lower one. Those
 * that were given the other version get this one, a slice at a time; nobody else is given anything.
 */
export const undoRollout: Write<'undoRollout', { readonly clock: Clock }> = async (
  writer,
  request,
  { actor },
) => {
  const { rollout, cargo } = await findOpenRollout(writer, request.rollout)
  if (rollout.state === 'undoing') return { acts: [], reply: toAdminRollout(rollout, cargo) }
  const good: Cargo = { ...cargo, version: rollout.version + 1 }
  const undoing: Rollout = { ...rollout, state: 'undoing', changedBy: actor, cursor: 0 }
  await writer.updateCargo(good)
  await writer.rollouts.update(undoing)
  const more = { hosts: rollout.given, versao_boa: good.version }
  return {
    acts: [actOf(HubEventType.rolloutUndone, undoing, cargo, more)],
    reply: toAdminRollout(undoing, good),
    news: { areRolloutsChanged: true },
  }
}

async function findOpenRollout(
  reader: StoreReader,
  wanted: string,
): Promise<{ readonly rollout: Rollout; readonly cargo: Cargo }> {
  const found = await findRollout(reader, wanted)
  const { id, state } = found.rollout
  if (isRolloutOpen(found.rollout)) return found
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

function actOf(
  type: HubEventType,
  { id, cargoId, version, wave }: Rollout,
  { name }: Cargo,
  more: Readonly<Record<string, unknown>> = {},
): AdminAct {
  const payload = { rollout: id, carga_id: cargoId, nome: name, versao: version, wave: wave + 1 }
  return { type, payload: { ...payload, ...more } }
}
