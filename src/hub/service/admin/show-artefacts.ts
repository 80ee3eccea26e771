// One carga and one entrega as an operator reads them.

import { invariant } from '../../../platform/errors.ts'
import type { Read } from '../admin-act.ts'
import { toAdminCargo } from '../admin-views.ts'
import { findCargo } from '../cargo/find-cargo.ts'
import { findNamedDelivery } from '../cargo/find-named-delivery.ts'
import type { AdminContext } from './admin-context.ts'
import { withStatuses } from './cargo-statuses.ts'
import { viewDeliveries } from './view-deliveries.ts'

export const showCargo: Read<'showCargo'> = async (reader, { carga }) => {
  const cargo = await findCargo(reader, carga)
  const content = await reader.summarizeContent(cargo.id)
  const [view] = await withStatuses(reader, [toAdminCargo(cargo)])
  invariant(view !== undefined, 'each carga has its view')
  return {
    ...view,
    entregas: Object.values(view.statuses).reduce((sum, hosts) => sum + hosts, 0),
    conteudo: content === undefined ? null : { sha256: content.sha256, bytes: content.byteCount },
  }
}

export const showDelivery: Read<'showDelivery', Pick<AdminContext, 'waiting'>> = async (
  reader,
  { entrega },
  { waiting },
) => {
  const { id } = await findNamedDelivery(reader, entrega)
  const delivery = await reader.findDeliveryWithCargo(id)
  invariant(delivery !== undefined, 'each entrega has a carga and an agent')
  const [view] = await viewDeliveries(reader, [delivery], waiting)
  invariant(view !== undefined, 'each entrega has its view')
  return { ...view, sans: [...delivery.sans], substituida_por: delivery.replacedBy }
}
