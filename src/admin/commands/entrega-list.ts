import type { AdminDelivery } from '../../protocol/admin/views.ts'
import { listCommand } from './list-command.ts'
import { type Columns, renderRows } from '../terminal/table.ts'

const DELIVERY_COLUMNS: Columns<AdminDelivery> = {
  HOSTNAME: (delivery) => delivery.hostname,
  NOME: (delivery) => delivery.nome,
  TIPO: (delivery) => delivery.tipo,
  VERSAO: (delivery) => delivery.versao,
  STATUS: (delivery) => delivery.status,
  UPDATED_AT: (delivery) => delivery.updated_at,
  ERRO: (delivery) => delivery.erro,
  ID: (delivery) => delivery.id,
}

export const registerEntregaList = listCommand({
  description: 'list the deliveries, oldest first',
  plural: 'entregas',
  ask: (operations, page) => operations.listDeliveries(page),
  columns: DELIVERY_COLUMNS,
})

export function renderDeliveries(deliveries: readonly AdminDelivery[]): string {
  return renderRows(DELIVERY_COLUMNS, deliveries)
}
