import type { Command } from 'commander'
import type { AdminDelivery } from '../../protocol/admin/views.ts'
import type { CommandContext } from './command-context.ts'
import { registerList } from './register-list.ts'
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

export function registerEntregaList(entrega: Command, context: CommandContext): void {
  registerList(entrega, context, {
    description: 'list the deliveries, oldest first',
    plural: 'entregas',
    ask: (operations, page) => operations.listDeliveries(page),
    rowsOf: ({ entregas }) => entregas,
    columns: DELIVERY_COLUMNS,
  })
}

export function renderDeliveries(deliveries: readonly AdminDelivery[]): string {
  return renderRows(DELIVERY_COLUMNS, deliveries)
}
