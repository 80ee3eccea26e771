// docs/protocol.md MET-34.

import type { MetricSet } from '../../platform/metric-set.ts'
import { isInForce } from '../domain/freeze.ts'
import { OPEN_ROLLOUT_STATES } from '../domain/rollout.ts'
import type { StoreReader } from '../store/store.ts'
import type { HubMetrics } from './hub-metrics.ts'

const FROZEN_MAX = 100

export async function collectRollouts(
  set: MetricSet<HubMetrics>,
  reader: Pick<StoreReader, 'rollouts' | 'findCargo'>,
  now: Date,
): Promise<void> {
  const open = await reader.rollouts.listOpen()
  const countOf = (state: string): number => open.filter((one) => one.state === state).length
  set.replace(
    'svc_rollouts',
    OPEN_ROLLOUT_STATES.map((state) => ({ labels: { state }, value: countOf(state) })),
  )
  const names = new Set<string>()
  for (const { state, subject } of open) {
    if (state !== 'frozen' || names.size >= FROZEN_MAX) continue
    if (subject.kind !== 'load') {
      names.add(subject.kind)
      continue
    }
    const cargo = await reader.findCargo(subject.cargoId)
    if (cargo !== undefined) names.add(cargo.name)
  }
  set.replace(
    'svc_rollout_frozen',
    Array.from(names, (nome) => ({ labels: { nome }, value: 1 })),
  )
  const freeze = await reader.rollouts.findFreeze()
  const isHeld = freeze !== undefined && isInForce(freeze, now)
  set.replace(
    'svc_freeze_until_timestamp_seconds',
    isHeld ? [{ labels: {}, value: freeze.until.getTime() / 1000 }] : [],
  )
}
