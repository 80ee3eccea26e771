// The enrolled hosts, and what an operator sends to one host at once.

import { GIVEN_LABELS_MAX } from '../labels.ts'
import { PUSH_BYTES_MAX, SEARCH_CHARACTERS_MAX } from './bounds.ts'
import {
  type AdminOperation,
  givenLabels,
  labelText,
  listRequest,
  next,
  nullable,
  selectorText,
  text,
  time,
  total,
} from './operation.ts'
import { Type } from './plain-type.ts'
import { AdminCertificate } from './certificados.ts'
import { AdminAgent, AdminCaRevocation, AdminDelivery } from './views.ts'

/**
 * `late` has a certificate that should have been renewed already, `expired` one that has ended; `connected` holds its stream;
 * `silent` does not, and was not heard of for two hours; `ok` is neither revoked nor late nor silent.
 */
export const AGENT_STATES = ['ok', 'late', 'expired', 'revoked', 'connected', 'silent'] as const
export type AgentState = (typeof AGENT_STATES)[number]
export const AGENT_SORTS = ['hostname', 'end', 'enrolled'] as const

/** A hostname or an id. */
const byName = Type.Object({ agente: text })

export const AGENT_OPERATIONS = {
  listAgents: {
    does: 'reads',
    method: 'GET',
    path: '/v1/admin/agentes',
    role: 'viewer',
    isForSomeHosts: true,
    summary: 'The agents that match, by hostname unless `sort` says otherwise.',
    request: Type.Object({
      ...listRequest.properties,
      where: Type.Optional(selectorText),
      /** A part of the hostname. */
      q: Type.Optional(Type.String({ minLength: 1, maxLength: SEARCH_CHARACTERS_MAX })),
      role: Type.Optional(text),
      estado: Type.Optional(Type.Enum([...AGENT_STATES])),
      /** By hostname, by the first end of a certificate in use, or the one that enrolled last first. */
      sort: Type.Optional(Type.Enum([...AGENT_SORTS])),
    }),
    reply: Type.Object({ agentes: Type.Array(AdminAgent), next, total }),
  },
  showAgent: {
    does: 'reads',
    method: 'POST',
    path: '/v1/admin/agentes/show',
    role: 'viewer',
    isForSomeHosts: true,
    summary: 'One agent, by hostname or id, and its deliveries.',
    request: Type.Object({
      ...byName.properties,
      /** Also what svc up to 0.4.0 would print as `[object Object]`: it prints each field that comes. */
      details: Type.Optional(Type.Boolean()),
    }),
    reply: Type.Object({
      ...AdminAgent.properties,
      /** Null for an agent that has none. */
      recipient_fingerprint: nullable(Type.String()),
      /** Names of the politicas that apply: of its role, then those with selectors. */
      politicas: Type.Array(Type.String()),
      entregas: Type.Array(AdminDelivery),
      /** With `details`: those in use, the first to end first; none of a revoked agent. */
      certificados: Type.Optional(Type.Array(AdminCertificate)),
      /** With `details`: what it last said of the roots that it trusts; null for an agent that never did. */
      roots: Type.Optional(
        nullable(
          Type.Object({
            numero: nullable(Type.Integer()),
            /** Agents say no época: it is known of the set in force, and null of any other. */
            epoca: nullable(Type.Integer()),
            since: time,
            /** They are the set in force. */
            is_current: Type.Boolean(),
            /** A file on the host says which roots to trust. */
            is_pinned: Type.Boolean(),
            erro: nullable(Type.String()),
          }),
        ),
      ),
      /** With `details`: what this hub refused to it last, the last one first, at most eight kinds; null where no hub runs. */
      refusals: Type.Optional(
        nullable(
          Type.Array(
            Type.Object({
              code: Type.String(),
              reason: Type.String(),
              /** `issue`, `events`, `manifest` and so on; `recover` for an identity that has expired. */
              operation: Type.String(),
              /** As the agent named it, and of which carga it is; both null for a request about none. */
              entrega_id: nullable(Type.String()),
              nome: nullable(Type.String()),
              /** Of the last one, as in the hub's log. */
              request_id: Type.String(),
              at: time,
              since: time,
              /** How many of them there were since. */
              times: Type.Integer(),
            }),
          ),
        ),
      ),
    }),
  },
  labelAgents: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/agentes/label',
    role: 'operator',
    isFleetWide: true,
    summary: 'Give labels to one agent, or to each that matches, and take labels away.',
    request: Type.Object({
      /** One of these. */
      agente: Type.Optional(text),
      where: Type.Optional(selectorText),
      set: Type.Optional(givenLabels),
      /** Keys; a label that is not there is no error. */
      remove: Type.Optional(Type.Array(labelText, { maxItems: GIVEN_LABELS_MAX })),
    }),
    reply: Type.Object({
      /** How many agents it was about, and how many of them have other labels now. */
      agentes: Type.Integer(),
      changed: Type.Integer(),
    }),
  },
  revokeAgent: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/agentes/revoke',
    role: 'operator',
    isForSomeHosts: true,
    confirm: 'always',
    summary: 'Refuse an agent from its next request on.',
    request: byName,
    reply: Type.Object({
      ...AdminAgent.properties,
      /** Open enrolment tokens that named its host: none of them brings it back. */
      tokens_ended: Type.Integer(),
    }),
  },
  removeAgent: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/agentes/remove',
    role: 'admin',
    confirm: 'always',
    summary: 'Take a revoked agent out of the lists; its history stays.',
    request: byName,
    reply: AdminAgent,
  },
  listCaRevocations: {
    does: 'reads',
    method: 'POST',
    path: '/v1/admin/agentes/revocations',
    role: 'viewer',
    summary: 'Certificates that the hub has revoked, and the CA has not yet.',
    request: listRequest,
    reply: Type.Object({ revocations: Type.Array(AdminCaRevocation), next }),
  },
  pushToAgent: {
    does: 'creates',
    method: 'POST',
    path: '/v1/push/:agente',
    status: 202,
    role: 'operator',
    isForSomeHosts: true,
    summary: 'Tell an agent to poll now or to renew, or push a small text file to it.',
    request: Type.Object({
      /** A hostname or an id; in the path. */
      agente: text,
      acao: Type.Optional(Type.Union([Type.Literal('sync'), Type.Literal('rotate')])),
      /** In place of an acao, a file: its name and content, and its mode in octal. */
      nome: Type.Optional(text),
      conteudo: Type.Optional(Type.String({ maxLength: PUSH_BYTES_MAX })),
      modo: Type.Optional(text),
    }),
    reply: Type.Object({
      entrega_id: Type.Optional(Type.String()),
      /** The agent holds its stream, and the hub tells it at once. */
      online: Type.Boolean(),
    }),
  },
} as const satisfies Readonly<Record<string, AdminOperation>>
