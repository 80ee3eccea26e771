// The certificates that hosts live on: the identity that each uses, and the newest of each entrega that is installed.

import type { Static } from 'typebox'
import { type AdminOperation, listRequest, next, nullable, text, time, total } from './operation.ts'
import { Type } from './plain-type.ts'

/** `renewing`: its agent is expected to renew it about now; `late`: it should have done so already. */
export const CERTIFICATE_STATES = ['fresh', 'renewing', 'late', 'expired'] as const
export type CertificateState = (typeof CERTIFICATE_STATES)[number]

export const AdminCertificate = Type.Object({
  /** The SHA-256 of the certificate. */
  id: Type.String(),
  agente_id: Type.String(),
  hostname: Type.String(),
  purpose: Type.Enum(['identity', 'delivery']),
  /** Both null for an identity. */
  nome: nullable(Type.String()),
  entrega_id: nullable(Type.String()),
  serial: Type.String(),
  not_before: time,
  not_after: time,
  state: Type.Enum([...CERTIFICATE_STATES]),
  /** Give or take a tenth of what is left of its life then. */
  renewal_expected_at: time,
})
export type AdminCertificate = Static<typeof AdminCertificate>

export const CERTIFICATE_OPERATIONS = {
  listCertificates: {
    does: 'reads',
    method: 'POST',
    path: '/v1/admin/certificados/list',
    role: 'viewer',
    isForSomeHosts: true,
    summary: 'The certificates in use that match, the first to end first.',
    request: Type.Object({
      ...listRequest.properties,
      state: Type.Optional(Type.Enum([...CERTIFICATE_STATES])),
      /** Hostname or id. */
      agente: Type.Optional(text),
      ends_before: Type.Optional(text),
    }),
    reply: Type.Object({ certificados: Type.Array(AdminCertificate), next, total }),
  },
} as const satisfies Readonly<Record<string, AdminOperation>>
