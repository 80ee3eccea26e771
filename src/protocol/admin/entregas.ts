// Each agent's share of a carga.

import { DeliveryStatus } from '../words.ts'
import { RETRIED_MAX, SEARCH_CHARACTERS_MAX } from './bounds.ts'
import {
  type AdminOperation,
  listRequest,
  next,
  nullable,
  selectorText,
  text,
  total,
} from './operation.ts'
import { Type } from './plain-type.ts'
import { AdminDelivery } from './views.ts'

export const DELIVERY_OPERATIONS = {
  listDeliveries: {
    does: 'reads',
    method: 'GET',
    path: '/v1/admin/entregas',
    role: 'viewer',
    summary: 'The entregas, oldest first.',
    request: listRequest,
    reply: Type.Object({ entregas: Type.Array(AdminDelivery), next }),
  },
  findDeliveries: {
    does: 'reads',
    method: 'POST',
    path: '/v1/admin/entregas/list',
    role: 'viewer',
    isForSomeHosts: true,
    summary: 'The entregas that match, the present ones unless `all` is true.',
    request: Type.Object({
      ...listRequest.properties,
      /** Also what was cancelled, and what another has replaced or is to replace. */
      all: Type.Optional(Type.Boolean()),
      /** Hostname or id. */
      agente: Type.Optional(text),
      role: Type.Optional(text),
      where: Type.Optional(selectorText),
      /** Name or id. */
      carga: Type.Optional(text),
      /** Any of these; `revertida` is an installed one with a target that is taken back. */
      status: Type.Optional(
        Type.Array(Type.Enum([...Object.values(DeliveryStatus), 'revertida']), {
          minItems: 1,
          maxItems: 8,
        }),
      ),
      /** A part of the hostname. */
      q: Type.Optional(Type.String({ minLength: 1, maxLength: SEARCH_CHARACTERS_MAX })),
      /** The agent should have renewed its certificate already. */
      late: Type.Optional(Type.Boolean()),
      /** By hostname, by age, or by how long it has the one status that is asked for. */
      sort: Type.Optional(Type.Enum(['host', 'created', 'updated'])),
    }),
    /** `total` is known where one page has them all. */
    reply: Type.Object({ entregas: Type.Array(AdminDelivery), next, total }),
  },
  showDelivery: {
    does: 'reads',
    method: 'POST',
    path: '/v1/admin/entregas/show',
    role: 'viewer',
    summary:
      'One entrega, by id, or by `<hostname>/<nome>` or `<nome>` while that names one present entrega.',
    request: Type.Object({ entrega: text }),
    reply: Type.Object({
      ...AdminDelivery.properties,
      sans: Type.Array(Type.String()),
      /** The entrega that takes its place. */
      substituida_por: nullable(Type.String()),
    }),
  },
  cancelDelivery: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/entregas/cancel',
    role: 'operator',
    version: 'versao',
    summary: 'Cancel one entrega; what is on the host stays.',
    request: Type.Object({ entrega: text }),
    reply: AdminDelivery,
  },
  retryDeliveries: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/entregas/retry',
    role: 'operator',
    isFleetWide: true,
    summary: 'Replace one entrega, some, or every failed one, by a new one.',
    request: Type.Object({
      /** At most one of these three; without them every failed one. */
      entrega: Type.Optional(text),
      /** All of them, or none. */
      entregas: Type.Optional(Type.Array(text, { minItems: 1, maxItems: RETRIED_MAX })),
      /** Every failed one whose `erro` begins with this line. */
      erro: Type.Optional(text),
    }),
    reply: Type.Object({ entregas: Type.Array(AdminDelivery) }),
  },
} as const satisfies Readonly<Record<string, AdminOperation>>
