// What an operator does to single entregas: cancel one, or try a failed one again.

import type { Clock } from '../../platform/clock.ts'
import { UserError } from '../../platform/errors.ts'
import type { AdminReplies, AdminRequest } from '../../protocol/admin.ts'
import type { DeliveryId } from '../../protocol/identifiers.ts'
import { DeliveryStatus, HubEventType } from '../../protocol/words.ts'
import type { Actor } from '../domain/actor.ts'
import type { Delivery } from '../domain/delivery.ts'
import type { DeliveryWithCargo, Store, StoreReader, StoreWriter } from '../store/store.ts'
import { toAdminDelivery } from './admin-views.ts'
import { recordHubAct } from './hub-acts.ts'
import { replaceDelivery } from './replace-delivery.ts'

const OVER: ReadonlySet<DeliveryStatus> = new Set([
  DeliveryStatus.cancelled,
  DeliveryStatus.replaced,
])

/** With all that it was to replace: nothing of it is renewed any more. */
export async function cancelDelivery(
  writer: StoreWriter,
  delivery: Delivery,
  now: Date,
  actor: Actor,
): Promise<void> {
  for (const each of [...(await writer.listPredecessors(delivery.id)), delivery]) {
    if (OVER.has(each.status)) continue
    await writer.setDeliveryStatus(each.id, DeliveryStatus.cancelled, now, each.error)
  }
  const payload = { actor, carga_id: delivery.cargoId }
  await recordHubAct(writer, now, HubEventType.deliveryCancelled, payload, delivery.id)
}

export async function cancelDeliveryById(
  store: Store,
  clock: Clock,
  request: AdminRequest<'cancelDelivery'>,
  actor: Actor,
): Promise<AdminReplies['cancelDelivery']> {
  return store.write(async (writer) => {
    const delivery = await findStanding(writer, request.entrega)
    await cancelDelivery(writer, delivery, clock.now(), actor)
    return toAdminDelivery(await findWithCargo(writer, delivery.id))
  })
}

/** A new entrega in the place of a failed one, or of every failed one. */
export async function retryDeliveries(
  store: Store,
  clock: Clock,
  request: AdminRequest<'retryDeliveries'>,
  actor: Actor,
): Promise<AdminReplies['retryDeliveries']> {
  return store.write(async (writer) => {
    const now = clock.now()
    const wanted =
      request.entrega === undefined
        ? (await writer.listDeliveries({ statuses: [DeliveryStatus.failed] })).filter(isStanding)
        : [await findStanding(writer, request.entrega)]
    const retried = []
    for (const old of wanted) {
      if (old.cargo.removedAt !== null) continue
      const { id } = await replaceDelivery(writer, old, old.cargo, now)
      const payload = { actor, entrega_anterior: old.id, carga_id: old.cargoId }
      await recordHubAct(writer, now, HubEventType.deliveryRetried, payload, id)
      retried.push(toAdminDelivery(await findWithCargo(writer, id)))
    }
    return { entregas: retried }
  })
}

function isStanding(delivery: Delivery): boolean {
  return delivery.replacedBy === null && !OVER.has(delivery.status)
}

async function findStanding(reader: StoreReader, id: string): Promise<DeliveryWithCargo> {
  const delivery = await reader.findDelivery(id as DeliveryId)
  if (delivery === undefined) {
    throw new UserError('delivery_not_found', `no entrega ${id}`, {
      hint: 'svc entrega list shows ids',
    })
  }
  if (!isStanding(delivery)) {
    const why =
      delivery.replacedBy === null ? delivery.status : `replaced by ${delivery.replacedBy}`
    const hint =
      delivery.replacedBy === null
        ? 'svc carga create makes a new one'
        : 'it stands in its place: name that one'
    throw new UserError('delivery_over', `entrega ${id} is ${why} already`, { hint })
  }
  return findWithCargo(reader, delivery.id)
}

async function findWithCargo(reader: StoreReader, id: DeliveryId): Promise<DeliveryWithCargo> {
  const delivery = await reader.findDelivery(id)
  const ofAgent = await reader.listDeliveries(
    delivery === undefined ? {} : { agentId: delivery.agentId },
  )
  const found = ofAgent.find((each) => each.id === id)
  if (found === undefined) throw new UserError('delivery_not_found', `no entrega ${id}`)
  return found
}
