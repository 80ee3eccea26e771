// What a policy says every agent of its role gets, made in the commit that enrols the agent. docs/protocol.md POL-13.

import type { CargoId } from '../../../protocol/identifiers.ts'
import type { Agent } from '../../domain/agent.ts'
import { type Cargo, sharedFileOf } from '../../domain/cargo.ts'
import type { Delivery } from '../../domain/delivery.ts'
import type { StoreWriter } from '../../store/store.ts'
import { listStandingDeliveries, newDelivery } from './replace-delivery.ts'

/** For the audit log: what the agent has of its policy's cargas, and what it was not given. */
export interface AutomaticDeliveries {
  readonly cargas_automaticas: readonly CargoId[]
  readonly cargas_omitidas: readonly { readonly carga_id: CargoId; readonly reason: string }[]
}

/**
 * One delivery each, unless the agent has one. Nobody is there to be asked: what cannot be delivered is left out, with
 * the reason, and never keeps a host from being enrolled.
 */
export async function deliverAutomatically(
  writer: StoreWriter,
  agent: Agent,
  cargoes: readonly CargoId[],
  now: Date,
): Promise<AutomaticDeliveries> {
  if (cargoes.length === 0) return { cargas_automaticas: [], cargas_omitidas: [] }
  const standing = await listStandingDeliveries(writer, { agentId: agent.id })
  const had = standing.map(({ cargo }) => cargo)
  const given: CargoId[] = []
  const fresh: Delivery[] = []
  const omitted: { carga_id: CargoId; reason: string }[] = []
  for (const id of cargoes) {
    const cargo = await writer.findCargo(id)
    const reason = findObstacle(cargo, had)
    if (cargo === undefined || reason !== undefined) {
      omitted.push({ carga_id: id, reason: reason ?? 'removed' })
      continue
    }
    given.push(id)
    if (had.some((each) => each.id === id)) continue
    fresh.push(newDelivery(cargo, agent.id, now))
    had.push(cargo)
  }
  await writer.insertDeliveries(fresh)
  return { cargas_automaticas: given, cargas_omitidas: omitted }
}

function findObstacle(cargo: Cargo | undefined, had: readonly Cargo[]): string | undefined {
  if (cargo === undefined || cargo.removedAt !== null) return 'removed'
  const rival = had.find(
    (other) => other.id !== cargo.id && sharedFileOf(other, cargo) !== undefined,
  )
  return rival && `carga ${rival.id} writes the same file`
}
