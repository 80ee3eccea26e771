// One field for all that an operator may have in hand: a name, an id, a serial, a number.

import { SEARCH_CHARACTERS_MAX } from './bounds.ts'
import type { AdminOperation } from './operation.ts'
import { Type } from './plain-type.ts'

export const SEARCH_KINDS = [
  'agente',
  'carga',
  'entrega',
  'certificado',
  'evento',
  'token',
  'join_rule',
  'politica',
  'webhook',
  'admin_token',
] as const
export type SearchKind = (typeof SEARCH_KINDS)[number]

export const SEARCH_OPERATIONS = {
  search: {
    does: 'reads',
    method: 'POST',
    path: '/v1/admin/search',
    role: 'viewer',
    isForSomeHosts: true,
    summary:
      'At most 20 things whose name, id, serial or number is what was asked for, or begins with it.',
    request: Type.Object({ q: Type.String({ minLength: 1, maxLength: SEARCH_CHARACTERS_MAX }) }),
    reply: Type.Object({
      hits: Type.Array(
        Type.Object({
          kind: Type.Enum([...SEARCH_KINDS]),
          /** What the operations about its kind take; of a certificado the SHA-256. */
          id: Type.String(),
          title: Type.String(),
          /** Which of its fields matched: `id`, `hostname`, `nome`, `serial`, `seq`, `request_id` and so on. */
          matched: Type.String(),
        }),
      ),
    }),
  },
} as const satisfies Readonly<Record<string, AdminOperation>>
