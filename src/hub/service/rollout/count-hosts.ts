// How many hosts there are for a rollout, and how those of its waves are.

import { AdminRefusal } from '../admin-act.ts'
import { agentSlices } from '../agent-slices.ts'
import { parseDecidingWhere } from '../parse-where.ts'
import type { StoreReader } from '../../store/store.ts'
import type { RolloutCounts } from '../../domain/rollout.ts'

/** Of all waves. */
export function sumCounts(waves: readonly RolloutCounts[]): RolloutCounts {
  const sum = (of: (wave: RolloutCounts) => number): number =>
    waves.reduce((total, wave) => total + of(wave), 0)
  return {
    pending: sum(({ pending }) => pending),
    silent: sum(({ silent }) => silent),
    unprobed: sum(({ unprobed }) => unprobed),
    done: sum(({ done }) => done),
    failed: sum(({ failed }) => failed),
    declined: sum(({ declined }) => declined),
  }
}

/** That are not revoked, and match. Throws an AdminRefusal when there is none. */
export async function countHosts(reader: StoreReader, where: string | null): Promise<number> {
  const selector = where === null ? undefined : parseDecidingWhere(where)
  let count = 0
  for await (const agents of agentSlices(reader, { where: selector })) {
    count += agents.filter(({ revokedAt }) => revokedAt === null).length
  }
  if (count > 0) return count
  throw new AdminRefusal(
    'rollout_empty',
    where === null ? 'there is no host' : `no host matches ${where}`,
  )
}
