// What is delivered.

import type { Static } from 'typebox'
import { SEALED_BASE64_CHARACTERS_MAX } from './bounds.ts'
import {
  type AdminOperation,
  listRequest,
  next,
  nullable,
  selectorText,
  text,
} from './operation.ts'
import { Type } from './plain-type.ts'
import {
  AdminCargo,
  AdminContent,
  AdminCreatedCargo,
  AdminListedCargo,
  AdminRecipients,
} from './views.ts'

/** The versao that the caller has seen; refused when the carga has another one. As `If-Match`. */
export const expectedVersion = Type.Integer({ minimum: 0 })

/** A sealed file, and the agents that it is sealed for: refused when an agent has another recipient now. */
export const sealed = Type.Object({
  /** The age file, base64. */
  conteudo: Type.String({ minLength: 1, maxLength: SEALED_BASE64_CHARACTERS_MAX }),
  destinatarios: Type.Array(
    Type.Object({
      /** An agent's id. */
      agente: text,
      /** As `SHA256:…`. */
      fingerprint: text,
    }),
    { minItems: 1, maxItems: 10_000 },
  ),
  /** Recipients besides the agents. */
  escrow: Type.Array(Type.String({ maxLength: 2048 }), { maxItems: 10 }),
})
export type AdminSealed = Static<typeof sealed>

/** Hostnames or ids, and roles. */
const agents = {
  agentes: Type.Array(text, { maxItems: 10_000 }),
  roles: Type.Array(text, { maxItems: 100 }),
}

export const CARGO_OPERATIONS = {
  createCargo: {
    does: 'creates',
    method: 'POST',
    path: '/v1/admin/cargas',
    role: 'operator',
    version: 'versao',
    isFleetWide: true,
    summary: 'Make a carga, and one entrega for each of its agents.',
    request: Type.Object({
      tipo: text,
      nome: text,
      ...agents,
      sans: Type.Array(text, { maxItems: 100 }),
      /** In place of both: it belongs to this selector, and each host that comes to match gets it. */
      where: Type.Optional(selectorText),
      /** The carga has no agents yet: a politica gives it to the agents that enrol from then on. */
      unassigned: Type.Optional(Type.Boolean()),
      /** For tipo selado: it names the agents that the file is sealed for; `agentes` and `roles` are empty then. */
      selado: Type.Optional(sealed),
    }),
    reply: AdminCreatedCargo,
  },
  listCargoes: {
    does: 'reads',
    method: 'GET',
    path: '/v1/admin/cargas',
    role: 'viewer',
    summary: 'The cargas, oldest first.',
    request: listRequest,
    reply: Type.Object({ cargas: Type.Array(AdminListedCargo), next }),
  },
  showCargo: {
    does: 'reads',
    method: 'POST',
    path: '/v1/admin/cargas/show',
    role: 'viewer',
    version: 'versao',
    summary: 'One carga, by id, or by name while only one carga has it.',
    request: Type.Object({ carga: text }),
    reply: Type.Object({
      ...AdminListedCargo.properties,
      /** Of how many hosts: the sum of the statuses. */
      entregas: Type.Integer(),
      /** Of the file that a selado or a push holds. */
      conteudo: nullable(Type.Object({ sha256: Type.String(), bytes: Type.Integer() })),
    }),
  },
  updateCargo: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/cargas/update',
    role: 'operator',
    version: 'versao',
    isFleetWide: true,
    summary: 'The next versao of a carga, with fresh entregas.',
    request: Type.Object({
      carga: text,
      /** In place of the names that it has; without them they stay. */
      sans: Type.Optional(Type.Array(text, { maxItems: 100 })),
      /** The next content of a carga of tipo selado, for exactly the agents that it has. */
      selado: Type.Optional(sealed),
      versao: Type.Optional(expectedVersion),
    }),
    reply: Type.Object({ ...AdminCreatedCargo.properties, versao: Type.Integer() }),
  },
  removeCargo: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/cargas/remove',
    role: 'operator',
    version: 'versao',
    isFleetWide: true,
    summary: 'End a carga; its entregas are cancelled.',
    request: Type.Object({ carga: text, versao: Type.Optional(expectedVersion) }),
    reply: AdminCargo,
  },
  selectCargo: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/cargas/select',
    role: 'operator',
    version: 'versao',
    summary:
      'Say to which selector a carga belongs: each host that matches gets it at its next poll.',
    request: Type.Object({
      carga: text,
      /** Null: to the hosts that have it now, and no other. */
      where: nullable(selectorText),
      versao: Type.Optional(expectedVersion),
    }),
    reply: Type.Object({
      carga_id: Type.String(),
      nome: Type.String(),
      where: nullable(Type.String()),
    }),
  },
  showSelection: {
    does: 'reads',
    method: 'POST',
    path: '/v1/admin/cargas/selection',
    role: 'viewer',
    summary:
      'Which hosts match the selector of a carga without having it, and which have it without matching.',
    request: Type.Object({ carga: text }),
    reply: Type.Object({
      carga_id: Type.String(),
      nome: Type.String(),
      where: nullable(Type.String()),
      /** How many hosts match. */
      matching: Type.Integer(),
      waiting_total: Type.Integer(),
      /** The first 1,000 of them, by hostname. */
      waiting: Type.Array(
        Type.Object({
          agente_id: Type.String(),
          hostname: Type.String(),
          reason: Type.Enum(['next_poll', 'not_sealed', 'nome_taken', 'san_forbidden']),
          /** The carga that has the name, or the name that is forbidden. */
          detail: nullable(Type.String()),
        }),
      ),
      unmatched_total: Type.Integer(),
      /** The first 1,000 of their entregas, oldest first. */
      unmatched: AdminCreatedCargo.properties.entregas,
    }),
  },
  pruneCargo: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/cargas/prune',
    role: 'operator',
    version: 'versao',
    isFleetWide: true,
    summary: 'Cancel the entregas of the hosts that do not match the selector of their carga.',
    request: Type.Object({ carga: text, versao: Type.Optional(expectedVersion) }),
    /** What was cancelled. */
    reply: Type.Object({ ...AdminCreatedCargo.properties, nome: Type.String() }),
  },
  listRecipients: {
    does: 'reads',
    method: 'POST',
    path: '/v1/admin/recipients/list',
    role: 'viewer',
    summary:
      'The recipients to seal for: the agents of a carga, or the named agents, and the escrow.',
    request: Type.Object({
      /** The agents of this carga, or the agents that the other two fields name. */
      carga: Type.Optional(text),
      ...agents,
      /** In place of both: the agents that match. */
      where: Type.Optional(selectorText),
    }),
    reply: AdminRecipients,
  },
  readContent: {
    does: 'reads',
    method: 'POST',
    path: '/v1/admin/cargas/conteudo',
    role: 'operator',
    version: 'versao',
    summary: 'The sealed file of a carga, as the hub keeps it.',
    request: Type.Object({ carga: text }),
    reply: AdminContent,
  },
} as const satisfies Readonly<Record<string, AdminOperation>>
