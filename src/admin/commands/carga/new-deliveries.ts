import type { AdminCreatedCargo } from '../../../protocol/admin/views.ts'
import type { Language } from '../../../protocol/spoken-words.ts'
import { type Columns, renderRows } from '../../terminal/table.ts'

type Deliveries = AdminCreatedCargo['entregas']

const COLUMNS: Columns<Deliveries[number]> = {
  hostname: ({ hostname }) => hostname,
  entrega_id: ({ id }) => id,
  agente_id: ({ agente_id }) => agente_id,
}

export function renderNewDeliveries(language: Language, deliveries: Deliveries): string {
  return renderRows(language, COLUMNS, deliveries)
}
