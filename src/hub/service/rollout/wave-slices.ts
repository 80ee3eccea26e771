// The hosts of a wave, a slice at a time: counted and put in their order, and given what the rollout brings.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { hostsOfWave } from '../../../protocol/rollout-share.ts'
import {
  isLastWave,
  isLoadRollout,
  isRootsRollout,
  isUpdateRollout,
  type Rollout,
} from '../../domain/rollout.ts'
import { LAST_PLACE, thresholdOf } from '../../domain/rollout-order.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import { LOAD_ACTS } from './load-acts.ts'
import type { GivenSlice, HostSlice, RolloutActs } from './rollout-acts.ts'
import { ROOTS_ACTS } from './roots-acts.ts'
import { ROTATION_ACTS } from './rotation-acts.ts'
import { UPDATE_ACTS } from './update-acts.ts'

type WavePlan = Pick<
  Rollout,
  'wave' | 'wanted' | 'threshold' | 'given' | 'isGiven' | 'cursor' | 'openMs' | 'soakedMs'
>

export function actsOf(rollout: Rollout): RolloutActs<Rollout> {
  if (isLoadRollout(rollout)) return LOAD_ACTS
  if (isRootsRollout(rollout)) return ROOTS_ACTS
  return isUpdateRollout(rollout) ? UPDATE_ACTS : ROTATION_ACTS
}

/** Which hosts the wave takes: those with the first places among all that it has not reached. docs/protocol.md RLO-4. */
export async function planWave(
  reader: StoreReader,
  rollout: Rollout,
  wanted: number,
  now: Date,
): Promise<WavePlan> {
  const places: number[] = []
  let given = 0
  for (let after: string | null = ''; after !== null;) {
    const slice: HostSlice = await actsOf(rollout).readHosts(reader, rollout, after, now)
    given += slice.hosts.filter(({ isReached }) => isReached).length
    for (const { isReached, place } of slice.hosts) if (!isReached) places.push(place)
    after = slice.next
    await nextTurn()
  }
  const total = given + places.length
  const targetOf = (wave: number): number => {
    const size = rollout.waves[wave]
    return size === undefined ? total : Math.min(total, hostsOfWave(size, total))
  }
  const last = rollout.waves.length - 1
  let wave = wanted
  // A wave of 10% of five hosts adds nobody to a first wave of one. The wave that is open already stays the same.
  while (wave > rollout.wave && wave < last && targetOf(wave) <= given) wave += 1
  const target = Math.max(targetOf(wave), given)
  return {
    wave,
    wanted: target,
    threshold: wave === last ? LAST_PLACE : thresholdOf(places, target - given),
    given,
    isGiven: false,
    cursor: '',
    openMs: 0,
    soakedMs: 0,
  }
}

/** To the next hosts of the wave. */
export async function giveSlice(
  writer: StoreWriter,
  rollout: Rollout,
  now: Date,
): Promise<GivenSlice> {
  const acts = actsOf(rollout)
  const { hosts, next } = await acts.readHosts(writer, rollout, rollout.cursor, now)
  const isLast = isLastWave(rollout)
  const threshold = rollout.threshold ?? 0
  const room = isLast ? Number.POSITIVE_INFINITY : rollout.wanted - rollout.given
  const chosen = hosts
    .filter(({ isReached, place }) => !isReached && place <= threshold)
    .slice(0, Math.min(room, hosts.length))
  await acts.give(writer, rollout, chosen, now)
  const given = rollout.given + chosen.length
  const isAtEnd = next === null
  const isFull = !isLast && given >= rollout.wanted
  // A host may have fallen silent, or have been revoked, since the wave was counted: then it is counted once more.
  const isShort = isAtEnd && !isLast && !isFull
  const after: Rollout = {
    ...rollout,
    given,
    isGiven: isFull || (isAtEnd && !isShort),
    threshold: isShort ? null : rollout.threshold,
    cursor: isShort ? '' : (next ?? rollout.cursor),
  }
  await writer.rollouts.update(after)
  return { rollout: after, agents: chosen.map(({ agent }) => agent.id) }
}
