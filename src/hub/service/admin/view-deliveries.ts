// Entregas as an operator reads them, with what their hosts have taken back and why they wait.

import type { AdminDelivery } from '../../../protocol/admin/views.ts'
import type { RevertedTarget } from '../../domain/reverted-target.ts'
import type { DeliveryWithCargo, StoreReader } from '../../store/store.ts'
import { toAdminDelivery } from '../admin-views.ts'
import type { WaitingReasons } from '../waiting-reasons.ts'

export async function viewDeliveries(
  reader: Pick<StoreReader, 'listRevertedTargets'>,
  deliveries: readonly DeliveryWithCargo[],
  waiting?: Pick<WaitingReasons, 'find'>,
): Promise<AdminDelivery[]> {
  const reverted = new Map<string, RevertedTarget[]>()
  for (const target of await reader.listRevertedTargets(deliveries.map(({ id }) => id))) {
    const ofDelivery = reverted.get(target.deliveryId)
    if (ofDelivery === undefined) reverted.set(target.deliveryId, [target])
    else ofDelivery.push(target)
  }
  return deliveries.map((delivery) =>
    toAdminDelivery(delivery, reverted.get(delivery.id), waiting?.find(delivery.id)),
  )
}
