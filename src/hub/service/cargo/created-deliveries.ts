// The reply of a `carga create` for many agents: all of its entregas, which are too many to keep for a repeated request.
// What is kept names the change that made them; they are read again.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AdminReplies } from '../../../protocol/admin/operations.ts'
import type { FleetChange } from '../../domain/fleet-change.ts'
import type { StoreReader } from '../../store/store.ts'
import { SLICE_DELIVERIES } from './fleet-changes.ts'

export interface KeptCreation {
  readonly carga_id: string
  readonly mudanca: FleetChange['id']
}

/** The reply that the hub gave, from the part that it kept. */
export async function restoreReply(reader: StoreReader, kept: object): Promise<object> {
  return isKeptCreation(kept) ? restoreCreation(reader, kept) : kept
}

function isKeptCreation(kept: object): kept is KeptCreation {
  return 'mudanca' in kept && 'carga_id' in kept
}

async function restoreCreation(
  reader: StoreReader,
  kept: KeptCreation,
): Promise<AdminReplies['createCargo']> {
  const entregas: AdminReplies['createCargo']['entregas'] = []
  let after = 0
  for (;;) {
    const step = { after, limit: SLICE_DELIVERIES }
    const { deliveries, next } = await reader.listDeliveriesOfChange(kept.mudanca, step)
    for (const { id, agentId, hostname } of deliveries) {
      entregas.push({ id, agente_id: agentId, hostname })
    }
    if (next === null) return { carga_id: kept.carga_id, entregas }
    after = next
    await nextTurn()
  }
}
