// Each agent's share of a carga.

import { type AdminOperation, listRequest, next, text } from './operation.ts'
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
    summary: 'Replace one entrega, or every failed one, by a new one.',
    request: Type.Object({
      /** Without it every failed one. */
      entrega: Type.Optional(text),
    }),
    reply: Type.Object({ entregas: Type.Array(AdminDelivery) }),
  },
} as const satisfies Readonly<Record<string, AdminOperation>>
