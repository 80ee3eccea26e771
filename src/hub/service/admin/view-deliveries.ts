// Entregas as an operator reads them, with what their hosts have taken back.

import type { AdminDelivery } from '../../../protocol/admin/views.ts'
import type { RevertedTarget } from '../../domain/reverted-target.ts'
import type { DeliveryWithCargo, StoreReader } from '../../store/store.ts'
import { toAdminDelivery } from '../admin-views.ts'

export async function viewDeliveries(
  reader: Pick<StoreReader, 'listRevertedTargets'>,
  deliveries: readonly DeliveryWithCargo[],
): Promise<AdminDelivery[]> {
  const reverted = new Map<string, RevertedTarget[]>()
  for (const target of await reader.listRevertedTargets(deliveries.map(({ id }) => id))) {
    const ofDelivery = reverted.get(target.deliveryId)
    if (ofDelivery === undefined) reverted.set(target.deliveryId, [target])
    else ofDelivery.push(target)
  }
  return deliveries.map((delivery) => toAdminDelivery(delivery, reverted.get(delivery.id)))
}
