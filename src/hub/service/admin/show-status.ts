// The fleet in a few figures, and for how long the hub may stay down before the first host loses a certificate.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { readVersion } from '../../../platform/version.ts'
import type { AdminReplies } from '../../../protocol/admin/operations.ts'
import type { CertificatesSummary } from '../../domain/fleet.ts'
import { isLate } from '../../domain/late-renewal.ts'
import type { StoreReader } from '../../store/store.ts'
import type { Read } from '../admin-act.ts'
import { findFreezeInForce } from '../rollout/find-rollout.ts'
import { nameRollout } from '../rollout/name-rollout.ts'
import type { ChangeProgress } from '../cargo/fleet-changes.ts'
import type { AdminContext } from './admin-context.ts'
import { countLosing } from './summary/count-losing.ts'
import { describeSurvivalOnTime } from './summary/survival-within.ts'

const HOUR_MS = 3_600_000

export const showStatus: Read<
  'showStatus',
  Pick<AdminContext, 'clock' | 'renewalThresholdMs' | 'changes' | 'health'>
> = async (reader, _request, { clock, renewalThresholdMs: thresholdMs, changes, health }) => {
  const now = clock.now()
  const { underWay } = changes
  const { agents, certificates, deliveries, reverted } = await reader.summariseFleet({
    now,
    thresholdMs,
  })
  await nextTurn()
  return {
    version: readVersion(),
    hub: (await health?.()) ?? null,
    agentes: { registered: agents.registered, atrasado: agents.late, revoked: agents.revoked },
    certificados: {
      identity: countsOf(certificates.identity),
      delivery: countsOf(certificates.delivery),
    },
    entregas: { ...deliveries, revertida: reverted },
    survival: await describeSurvival(reader, now, thresholdMs),
    mudanca: underWay === undefined ? null : describeChange(underWay),
    ...(await describeRollouts(reader, now)),
    survival_on_time: await describeSurvivalOnTime(reader, { now, thresholdMs }),
  }
}

/** An earlier hub ignores a `dry_run`, and acts, or a filter, and lists everything: a client asks here first. docs/protocol.md API-28. */
export const showFeatures: Read<'showFeatures'> = async () => ({
  features: [
    'dry_run',
    'entry_filters',
    'labels',
    'bounded_tokens',
    'selected_cargas',
    'selector_webhooks',
    'agent_filters',
  ],
})

export function describeChange({
  act,
  cargoName,
  total,
  prepared,
  settled,
}: ChangeProgress): AdminReplies['showStatus']['mudanca'] {
  return { acao: act, nome: cargoName, total, prepared, settled }
}

function countsOf({ valid, late, expired }: CertificatesSummary) {
  return { valid, atrasado: late, expired }
}

const ROLLOUTS_MAX = 20

async function describeRollouts(
  reader: StoreReader,
  now: Date,
): Promise<Pick<AdminReplies['showStatus'], 'rollouts' | 'freeze'>> {
  const rollouts: AdminReplies['showStatus']['rollouts'] = []
  for (const rollout of (await reader.rollouts.listOpen()).slice(0, ROLLOUTS_MAX)) {
    const { id, subject, state, wave, waves, reason } = rollout
    const { nome } = await nameRollout(reader, rollout)
    rollouts.push({
      id,
      kind: subject.kind,
      nome,
      state,
      wave: wave + 1,
      waves: waves.length,
      reason,
    })
  }
  const freeze = await findFreezeInForce(reader, now)
  return {
    rollouts,
    freeze: freeze === undefined ? null : { until: freeze.until.toISOString(), why: freeze.why },
  }
}

/** Null when no host has a certificate that could end. */
async function describeSurvival(
  reader: StoreReader,
  now: Date,
  thresholdMs: number,
): Promise<AdminReplies['showStatus']['survival']> {
  const [first] = await reader.listFirstToEnd(now, 1)
  if (first === undefined) return null
  const endMs = first.notAfter.getTime()
  const ends = [1, 24].map((hours) => new Date(endMs + hours * HOUR_MS))
  // Without the first host itself.
  const [within1h = 0, within24h = 0] = (await countLosing(reader, now, ends)).map((count) =>
    Math.max(0, count - 1),
  )
  return {
    seconds: Math.floor((endMs - now.getTime()) / 1000),
    first: {
      hostname: first.hostname,
      purpose: first.purpose,
      nome: first.name,
      not_after: first.notAfter.toISOString(),
      atrasado: isLate(first, now, thresholdMs),
    },
    following_1h: within1h,
    following_24h: within24h,
  }
}
