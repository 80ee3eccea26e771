// For how long the hub may stay down, and whom that costs: with all hosts, and without those that are late and do not renew anyway.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AdminSurvivalWithin } from '../../../../protocol/admin/views.ts'
import type { CertificateInUse } from '../../../domain/fleet.ts'
import type { LateRule, StoreReader } from '../../../store/store.ts'

const HOUR_MS = 3_600_000
const HOURS = [1, 3, 6, 24, 30]

export async function describeSurvivalOfAll(
  reader: StoreReader,
  { now }: LateRule,
): Promise<AdminSurvivalWithin | null> {
  const [first] = await reader.listFirstToEnd(now, 1)
  return describe(first, now, async (untils) => {
    const lost = await reader.summary.countAgentsEnding(now)
    const counts: number[] = []
    for (const until of untils) {
      await nextTurn()
      counts.push((await reader.summary.countAgentsEnding(until)) - lost)
    }
    return counts
  })
}

export async function describeSurvivalOnTime(
  { summary }: StoreReader,
  rule: LateRule,
): Promise<AdminSurvivalWithin | null> {
  const first = await summary.findFirstOnTime(rule)
  return describe(first, rule.now, (untils) => summary.countOnTimeEnding(rule, untils))
}

async function describe(
  first: CertificateInUse | undefined,
  now: Date,
  countLosing: (untils: readonly Date[]) => Promise<readonly number[]>,
): Promise<AdminSurvivalWithin | null> {
  if (first === undefined) return null
  await nextTurn()
  const counts = await countLosing(HOURS.map((hours) => new Date(now.getTime() + hours * HOUR_MS)))
  const { agentId, hostname, purpose, name, notAfter } = first
  return {
    seconds: Math.floor((notAfter.getTime() - now.getTime()) / 1000),
    first: {
      agente_id: agentId,
      hostname,
      purpose,
      nome: name,
      not_after: notAfter.toISOString(),
    },
    losing: HOURS.map((hours, at) => ({ hours, agentes: counts[at] ?? 0 })),
  }
}
