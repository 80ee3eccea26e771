// An entrega that is made anew: by a new version of its carga, by retry, or because its host was enrolled again.

import { randomUUID } from 'node:crypto'
import type { DeliveryId } from '../../protocol/identifiers.ts'
import { DeliveryStatus } from '../../protocol/words.ts'
import type { Agent } from '../domain/agent.ts'
import type { Cargo } from '../domain/cargo.ts'
import type { Delivery } from '../domain/delivery.ts'
import type { DeliveryWithCargo, StoreReader, StoreWriter } from '../store/store.ts'

/** Statuses whose files are, or may yet be, on the host. */
export const LIVE_STATUSES = [
  DeliveryStatus.pending,
  DeliveryStatus.inProgress,
  DeliveryStatus.installed,
  DeliveryStatus.delivered,
  DeliveryStatus.failed,
] as const

/** Those that speak for their file: no other has taken, or is about to take, their place. */
export async function listStandingDeliveries(
  reader: StoreReader,
  filter: { agentId?: Agent['id']; cargoId?: Cargo['id'] },
): Promise<DeliveryWithCargo[]> {
  const live = await reader.listDeliveries({ ...filter, statuses: LIVE_STATUSES })
  return live.filter((delivery) => delivery.replacedBy === null)
}

/** Whom the next version of a sealed cargo is for: never a revoked agent. */
export async function listSealedDeliveries(
  reader: StoreReader,
  cargoId: Cargo['id'],
): Promise<DeliveryWithCargo[]> {
  const deliveries = []
  for (const delivery of await listStandingDeliveries(reader, { cargoId })) {
    const agent = await reader.findAgentById(delivery.agentId)
    if (agent?.revokedAt === null) deliveries.push(delivery)
  }
  return deliveries
}

export function newDelivery(cargo: Cargo, agentId: Agent['id'], now: Date): Delivery {
  return {
    id: randomUUID() as DeliveryId,
    cargoId: cargo.id,
    agentId,
    status: DeliveryStatus.pending,
    updatedAt: now,
    error: null,
    version: cargo.version,
    sans: cargo.sans,
    replacedBy: null,
  }
}

/**
 * What was installed may be renewed until its successor is installed; what never was is replaced at once.
 * docs/protocol.md DEL-16.
 */
export async function replaceDelivery(
  writer: StoreWriter,
  old: Delivery,
  cargo: Cargo,
  now: Date,
): Promise<Delivery> {
  const successor = newDelivery(cargo, old.agentId, now)
  await writer.insertDelivery(successor)
  await writer.setDeliverySuccessor(old.id, successor.id)
  if (!isOnHost(old)) {
    await writer.setDeliveryStatus(old.id, DeliveryStatus.replaced, now, old.error)
  }
  return successor
}

/** The successor is on the host: whatever it replaces is over. */
export async function endPredecessors(
  writer: StoreWriter,
  delivery: Delivery,
  now: Date,
): Promise<void> {
  for (const old of await writer.listPredecessors(delivery.id)) {
    const isOver = old.status === DeliveryStatus.cancelled || old.status === DeliveryStatus.replaced
    if (!isOver) await writer.setDeliveryStatus(old.id, DeliveryStatus.replaced, now, old.error)
  }
}

export async function renewDeliveriesOf(
  writer: StoreWriter,
  agent: Agent,
  now: Date,
): Promise<void> {
  for (const old of await listStandingDeliveries(writer, { agentId: agent.id })) {
    if (old.cargo.removedAt === null) await replaceDelivery(writer, old, old.cargo, now)
  }
}

function isOnHost({ status }: Delivery): boolean {
  return status === DeliveryStatus.installed || status === DeliveryStatus.delivered
}
