import type { AdminCreatedCargo } from '../../protocol/admin/views.ts'
import { renderTable } from '../terminal/table.ts'

export function renderNewDeliveries(deliveries: AdminCreatedCargo['entregas']): string {
  const rows = deliveries.map(({ id, hostname, agente_id }) => [hostname, id, agente_id])
  return renderTable(['HOSTNAME', 'ENTREGA_ID', 'AGENTE_ID'], rows)
}
