// The states and orders that the hub's list takes, by the hub's own types, which a browser has no need to load.

import type { AdminRequest } from '../../api/operations.ts'

type Filters = AdminRequest<'listAgents'>

export const AGENT_STATES = [
  'ok',
  'late',
  'expired',
  'silent',
  'connected',
  'revoked',
] as const satisfies readonly NonNullable<Filters['estado']>[]

export const AGENT_SORTS = ['hostname', 'end', 'enrolled'] as const satisfies readonly NonNullable<
  Filters['sort']
>[]
