// What the list of deliveries is filtered by, as the URL has it and as the hub takes it.

import type { AdminRequest } from '../../api/operations.ts'

type Filters = AdminRequest<'findDeliveries'>
type Status = NonNullable<Filters['status']>[number]
export type DeliverySort = NonNullable<Filters['sort']>

export const STATUSES = [
  'pendente',
  'em_andamento',
  'instalada',
  'entregue',
  'falhou',
  'revertida',
] as const satisfies readonly Status[]

export function readFilters(query: Readonly<Record<string, string>>): Filters {
  const { late, status: wanted, ...texts } = query
  const { q, agente, role, where, carga } = withoutEmpty(texts)
  const status = STATUSES.find((one) => one === wanted)
  const filters: Filters = {
    ...(q !== undefined && { q }),
    ...(agente !== undefined && { agente }),
    ...(role !== undefined && { role }),
    ...(where !== undefined && { where }),
    ...(carga !== undefined && { carga }),
    ...(status !== undefined && { status: [status] }),
    ...(late === '1' && { late: true }),
  }
  const sort = listSorts(filters).find((one) => one === query['sort'])
  return { ...filters, ...(sort !== undefined && { sort }) }
}

function withoutEmpty(texts: Readonly<Record<string, string>>): Partial<typeof texts> {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''))
}

/** The orders that the hub has an index for, the one that it takes by itself first. docs/protocol.md API-61. */
export function listSorts({ agente, carga, status, role, where, q }: Filters): DeliverySort[] {
  if (agente !== undefined) return ['host']
  if (carga !== undefined) return ['created']
  const [only] = status ?? []
  const isByAge =
    only !== undefined &&
    only !== 'revertida' &&
    role === undefined &&
    where === undefined &&
    q === undefined
  return isByAge ? ['updated', 'host', 'created'] : ['host', 'created']
}
