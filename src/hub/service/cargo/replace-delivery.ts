// A new entrega in place of an old one: for a new version of its carga, for a retry, or for a host that enrolled again.

import { timeOrderedUuid } from '../../../platform/time-ordered-uuid.ts'
import type { DeliveryId } from '../../../protocol/identifiers.ts'
import { DeliveryStatus } from '../../../protocol/words.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Cargo } from '../../domain/cargo.ts'
import { type Delivery, isLive, isStanding, LIVE_STATUSES } from '../../domain/delivery.ts'
import type { DeliveryWithCargo, StoreReader, StoreWriter } from '../../store/store.ts'

/** Entregas that stand for their file: no other entrega has replaced them, or is about to. */
export async function listStandingDeliveries(
  reader: StoreReader,
  filter: { agentId: Agent['id'] },
): Promise<DeliveryWithCargo[]> {
  const live = await reader.listDeliveries({ ...filter, statuses: LIVE_STATUSES })
  return live.filter(isStanding)
}

/** The same of many agents, by one question. */
export async function listStandingOf(
  reader: StoreReader,
  agentIds: readonly Agent['id'][],
): Promise<DeliveryWithCargo[]> {
  return (await reader.listLiveDeliveries(agentIds)).filter(isStanding)
}

export function newDelivery(cargo: Cargo, agentId: Agent['id'], now: Date): Delivery {
  return {
    // One after the other in the indexes: the rows of a slice touch few pages, and a commit encrypts each touched page.
    id: timeOrderedUuid() as DeliveryId,
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

/** The same again: of the version that a rollout gave, while the carga is behind it, else of the carga's. docs/protocol.md RLO-15. */
export function newDeliveryLike(
  {
    agentId,
    version,
    sans,
    cargo,
  }: Pick<DeliveryWithCargo, 'agentId' | 'version' | 'sans' | 'cargo'>,
  now: Date,
): Delivery {
  return newDelivery(version > cargo.version ? { ...cargo, version, sans } : cargo, agentId, now)
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
  await writer.replaceDeliveries([{ old: old.id, successor }], now)
  return successor
}

/** The successor is on the host: whatever it replaces is over. */
export async function endPredecessors(
  writer: StoreWriter,
  delivery: Delivery,
  now: Date,
): Promise<void> {
  for (const old of await writer.listPredecessors(delivery.id)) {
    if (isLive(old)) await writer.setDeliveryStatus(old.id, DeliveryStatus.replaced, now, old.error)
  }
}

export async function renewDeliveriesOf(
  writer: StoreWriter,
  agent: Agent,
  now: Date,
): Promise<void> {
  const standing = await listStandingDeliveries(writer, { agentId: agent.id })
  const replacements = standing
    .filter(({ cargo }) => cargo.removedAt === null)
    .map((old) => ({ old: old.id, successor: newDeliveryLike(old, now) }))
  await writer.replaceDeliveries(replacements, now)
}
