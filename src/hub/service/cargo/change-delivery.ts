// What an operator does to single entregas: cancel one, or try a failed one again.

import { type AdminAct, AdminRefusal, type Write } from '../admin-act.ts'
import type { AdminDelivery } from '../../../protocol/admin/views.ts'
import type { AgentId, DeliveryId } from '../../../protocol/identifiers.ts'
import { stateIn } from '../../../protocol/spoken-words.ts'
import { HubEventType } from '../../../protocol/words.ts'
import { type Delivery, isStanding } from '../../domain/delivery.ts'
import type { DeliveryWithCargo, StoreReader, StoreWriter } from '../../store/store.ts'
import { toAdminDelivery } from '../admin-views.ts'
import { keepMatchingAgents } from '../agent-slices.ts'
import type { CargoContext } from './cargo-context.ts'
import { findNamedDelivery } from './find-named-delivery.ts'
import { newDeliveryLike } from './replace-delivery.ts'
import { parseStored } from '../selected-cargoes.ts'

/** With all the entregas that they were to replace: the agent renews none of these any more. */
export async function cancelDeliveries(
  writer: StoreWriter,
  deliveries: readonly Delivery[],
  now: Date,
): Promise<AdminAct[]> {
  await writer.cancelDeliveries(
    deliveries.map(({ id }) => id),
    now,
  )
  return deliveries.map((delivery) => cancellation(delivery))
}

/** What the log says of each entrega that an operator cancelled, also with its carga or agent. */
export function cancellation({ id, cargoId }: Pick<Delivery, 'id' | 'cargoId'>): AdminAct {
  const payload = { carga_id: cargoId }
  return { type: HubEventType.deliveryCancelled, payload, deliveryId: id }
}

export const cancelDelivery: Write<'cancelDelivery', Pick<CargoContext, 'clock'>> = async (
  writer,
  { entrega },
  { clock },
) => {
  const delivery = await findStanding(writer, entrega)
  await refuseStillSelected(writer, delivery)
  const acts = await cancelDeliveries(writer, [delivery], clock.now())
  const reply = toAdminDelivery(await findWithCargo(writer, delivery.id))
  return { acts, reply, news: { agents: [delivery.agentId] } }
}

/** The hub would give it to the host again, at the next poll. */
async function refuseStillSelected(
  reader: StoreReader,
  { cargo, agentId, hostname }: DeliveryWithCargo,
): Promise<void> {
  if (cargo.where === null || cargo.removedAt !== null) return
  const agents = await reader.findAgents([agentId])
  const matching = await keepMatchingAgents(reader, parseStored(cargo.where), agents)
  if (!matching.some(({ revokedAt }) => revokedAt === null)) return
  throw new AdminRefusal(
    'still_selected',
    `host ${hostname} matches ${cargo.where}, to which load ${cargo.name} belongs: it would get it again`,
    { where: cargo.where },
  )
}

/** A new entrega in the place of a failed one. */
export async function retryDelivery(
  writer: StoreWriter,
  id: string,
  now: Date,
): Promise<RetriedDelivery> {
  const old = await findStanding(writer, id)
  if (old.cargo.removedAt !== null) return { acts: [], made: [], agents: [] }
  const successor = newDeliveryLike(old, now)
  await writer.replaceDeliveries([{ old: old.id, successor }], now)
  const entrega = toAdminDelivery(await findWithCargo(writer, successor.id))
  return {
    acts: [retrial({ ...old, replacedBy: successor.id })],
    made: [entrega],
    agents: [old.agentId],
  }
}

/** Nothing of an entrega whose carga was removed. */
interface RetriedDelivery {
  readonly acts: readonly AdminAct[]
  readonly made: readonly AdminDelivery[]
  readonly agents: readonly AgentId[]
}

/** The log entry of each replaced entrega. */
export function retrial({
  id,
  cargoId,
  replacedBy,
}: Pick<Delivery, 'id' | 'cargoId' | 'replacedBy'>): AdminAct {
  const payload = { entrega_anterior: id, carga_id: cargoId }
  return { type: HubEventType.deliveryRetried, payload, deliveryId: replacedBy }
}

async function findStanding(reader: StoreReader, id: string): Promise<DeliveryWithCargo> {
  const delivery = await findNamedDelivery(reader, id)
  if (!isStanding(delivery)) {
    const { status, replacedBy } = delivery
    const why = replacedBy === null ? stateIn('en', status) : `replaced by ${replacedBy}`
    throw new AdminRefusal('delivery_over', `delivery ${id} is ${why} already`, {
      status,
      ...(replacedBy !== null && { replaced_by: replacedBy }),
    })
  }
  return findWithCargo(reader, delivery.id)
}

async function findWithCargo(reader: StoreReader, id: DeliveryId): Promise<DeliveryWithCargo> {
  const found = await reader.findDeliveryWithCargo(id)
  if (found === undefined) throw new AdminRefusal('delivery_not_found', `no delivery ${id}`)
  return found
}
