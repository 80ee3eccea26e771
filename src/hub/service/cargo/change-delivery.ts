// What an operator does to single entregas: cancel one, or try a failed one again.

import type { Clock } from '../../../platform/clock.ts'
import { UserError } from '../../../platform/errors.ts'
import type { AdminReplies, AdminRequest } from '../../../protocol/admin/operations.ts'
import type { DeliveryId } from '../../../protocol/identifiers.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { Actor } from '../../domain/actor.ts'
import type { NewAuditEntry } from '../../domain/audit-entry.ts'
import { type Delivery, isStanding } from '../../domain/delivery.ts'
import type { DeliveryWithCargo, Store, StoreReader, StoreWriter } from '../../store/store.ts'
import { toAdminDelivery } from '../admin-views.ts'
import { appendEntries, appendEntry } from '../append-entries.ts'
import { hubAct } from '../hub-acts.ts'
import { replaceDelivery } from './replace-delivery.ts'

/** With all that they were to replace: nothing of it is renewed any more. */
export async function cancelDeliveries(
  writer: StoreWriter,
  deliveries: readonly Delivery[],
  now: Date,
  actor: Actor,
): Promise<void> {
  await writer.cancelDeliveries(
    deliveries.map(({ id }) => id),
    now,
  )
  await appendEntries(
    writer,
    deliveries.map((delivery) => cancellation(delivery, now, actor)),
  )
}

/** What the log says of each entrega that an operator cancelled, also with its carga or agent. */
export function cancellation(
  { id, cargoId }: Pick<Delivery, 'id' | 'cargoId'>,
  at: Date,
  actor: Actor,
): NewAuditEntry {
  return hubAct(at, HubEventType.deliveryCancelled, { actor, carga_id: cargoId }, id)
}

export async function cancelDeliveryById(
  store: Store,
  clock: Clock,
  request: AdminRequest<'cancelDelivery'>,
  actor: Actor,
): Promise<AdminReplies['cancelDelivery']> {
  return store.write(async (writer) => {
    const delivery = await findStanding(writer, request.entrega)
    await cancelDeliveries(writer, [delivery], clock.now(), actor)
    return toAdminDelivery(await findWithCargo(writer, delivery.id))
  })
}

/** A new entrega in the place of a failed one. */
export async function retryDelivery(
  store: Store,
  clock: Clock,
  id: string,
  actor: Actor,
): Promise<AdminReplies['retryDeliveries']> {
  return store.write(async (writer) => {
    const now = clock.now()
    const old = await findStanding(writer, id)
    if (old.cargo.removedAt !== null) return { entregas: [] }
    const successor = await replaceDelivery(writer, old, old.cargo, now)
    await appendEntry(writer, retrial({ ...old, replacedBy: successor.id }, now, actor))
    return { entregas: [toAdminDelivery(await findWithCargo(writer, successor.id))] }
  })
}

/** What the log says of each entrega that was made anew. */
export function retrial(
  { id, cargoId, replacedBy }: Pick<Delivery, 'id' | 'cargoId' | 'replacedBy'>,
  at: Date,
  actor: Actor,
): NewAuditEntry {
  const payload = { actor, entrega_anterior: id, carga_id: cargoId }
  return hubAct(at, HubEventType.deliveryRetried, payload, replacedBy)
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
  const found = await reader.findDeliveryWithCargo(id)
  if (found === undefined) throw new UserError('delivery_not_found', `no entrega ${id}`)
  return found
}
