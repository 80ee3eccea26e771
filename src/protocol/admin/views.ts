// What the admin operations show: the rows of the lists of `svc … --json`, and what stands for itself.

import type { Static } from 'typebox'
import { nullable, time } from './operation.ts'
import { Type } from './plain-type.ts'

/** As `key=value`, by key: svc up to 0.4.0 prints each field of an agent, and an object as nothing that is of use. */
export const labelList = Type.Array(Type.String())

export const AdminToken = Type.Object({
  /** The first 16 hex characters of the token's SHA-256: enough to name it, useless to use it. */
  id: Type.String(),
  hostname: Type.String(),
  role: Type.String(),
  expires_at: time,
  consumed_at: nullable(time),
  created_at: time,
  /** What the host gets when it enrols. */
  labels: labelList,
  /** How often it came with another hostname or role; ten times end it. */
  mismatches: Type.Integer(),
})
export type AdminToken = Static<typeof AdminToken>

export const AdminCreatedToken = Type.Object({
  ...AdminToken.properties,
  /** The plaintext, shown this once. */
  token: Type.String(),
  /** Ready to paste on the host. */
  agent_command: Type.String(),
  /** What is to be set before the command works; none when nothing is. */
  note: Type.Optional(Type.String()),
})
export type AdminCreatedToken = Static<typeof AdminCreatedToken>

export const AdminAgent = Type.Object({
  id: Type.String(),
  hostname: Type.String(),
  role: Type.String(),
  last_seen_at: nullable(time),
  last_poll_at: nullable(time),
  revoked_at: nullable(time),
  created_at: time,
  cert_serial: nullable(Type.String()),
  cert_not_after: nullable(time),
  /** The agent should have renewed one of its certificates already; since when. */
  atrasado: Type.Boolean(),
  atrasado_since: nullable(time),
  /** Its identity is used from two places; null when it is not, and where no hub runs. */
  duplicado: nullable(
    Type.Object({ since: time, last_at: time, addresses: Type.Array(Type.String()) }),
  ),
  /** Of the program on the host, as it says itself. */
  agent_version: nullable(Type.String()),
  platform: nullable(Type.String()),
  /** From which the hub saw it, the last one first. */
  addresses: Type.Array(Type.String()),
  /** When the hub first and last heard of the host. */
  first_seen_at: time,
  last_contact_at: nullable(time),
  /** Since when it holds its stream; null while it does not. */
  online_since: nullable(time),
  /** Of its certificates that have not expired: how many the CA is yet to revoke, and how many it will not. */
  ca_revocations_waiting: Type.Integer(),
  ca_revocations_refused: Type.Integer(),
  ca_revocation_reason: nullable(Type.String()),
  /** What tokens and operators gave it, and as `host.…` what its agent says. */
  labels: labelList,
})
export type AdminAgent = Static<typeof AdminAgent>

/** A certificate that is revoked here and not at the CA. */
export const AdminCaRevocation = Type.Object({
  /** The SHA-256 of the certificate. */
  id: Type.String(),
  agente_id: Type.String(),
  hostname: Type.String(),
  serial: Type.String(),
  purpose: Type.String(),
  state: Type.Union([Type.Literal('waiting'), Type.Literal('refused')]),
  revoked_at: time,
  not_after: time,
  reason: nullable(Type.String()),
})
export type AdminCaRevocation = Static<typeof AdminCaRevocation>

export const AdminCargo = Type.Object({
  id: Type.String(),
  tipo: Type.String(),
  nome: Type.String(),
  versao: Type.Integer(),
  sans: Type.Array(Type.String()),
  /** The selector that it belongs to; null for a carga of named hosts. */
  where: nullable(Type.String()),
  created_at: time,
})
export type AdminCargo = Static<typeof AdminCargo>

/** With how many hosts are in which status; one that the carga has left counts no longer. */
export const AdminListedCargo = Type.Object({
  ...AdminCargo.properties,
  statuses: Type.Object({
    pendente: Type.Integer(),
    em_andamento: Type.Integer(),
    instalada: Type.Integer(),
    entregue: Type.Integer(),
    falhou: Type.Integer(),
  }),
})
export type AdminListedCargo = Static<typeof AdminListedCargo>

export const AdminCreatedCargo = Type.Object({
  carga_id: Type.String(),
  entregas: Type.Array(
    Type.Object({ id: Type.String(), agente_id: Type.String(), hostname: Type.String() }),
  ),
})
export type AdminCreatedCargo = Static<typeof AdminCreatedCargo>

export const AdminDelivery = Type.Object({
  id: Type.String(),
  carga_id: Type.String(),
  agente_id: Type.String(),
  hostname: Type.String(),
  tipo: Type.String(),
  nome: Type.String(),
  versao: Type.Integer(),
  status: Type.String(),
  updated_at: time,
  /** Of a delivery with targets that are taken back: what the host said of the last one, with what its command printed. */
  erro: nullable(Type.String()),
  /** Since when the host has taken back a target of what is installed; null when it has not. */
  reverted_at: nullable(time),
  alvos_revertidos: Type.Array(
    Type.Object({
      /** The file of the target on the host; null from an agent that does not say. */
      alvo: nullable(Type.String()),
      reverted_at: time,
      erro: Type.String(),
    }),
  ),
  /** What the hub last answered when the agent asked for the certificate in vain, and why; of a running hub. */
  waiting_reason: nullable(Type.String()),
  waiting_reason_at: nullable(time),
})
export type AdminDelivery = Static<typeof AdminDelivery>

export const AdminPolicy = Type.Object({
  /** `*` for every role that has no row of its own. */
  role: Type.String(),
  nome: Type.String(),
  /** Seconds; null leaves it to the hub. */
  token_ttl_max: nullable(Type.Integer()),
  /** Seconds; null leaves it to the CA. */
  cert_ttl: nullable(Type.Integer()),
  /** `*` for any name. */
  sans_permitidos: Type.Array(Type.String()),
  /** An admin named them, so operators may give them; false while they are the default. */
  sans_nomeados: Type.Boolean(),
  /** Their ids. */
  cargas_automaticas: Type.Array(Type.String()),
  /** Operators may have hosts of the role enrolled again. */
  reenroll: Type.Boolean(),
})
export type AdminPolicy = Static<typeof AdminPolicy>

/** A politica that narrows the politicas of roles for the hosts that its selector matches. docs/protocol.md POL-20. */
export const AdminSelectorPolicy = Type.Object({
  nome: Type.String(),
  /** In its one form. */
  where: Type.String(),
  /** Seconds; null says nothing of it, as for all that follow. */
  token_ttl_max: nullable(Type.Integer()),
  cert_ttl: nullable(Type.Integer()),
  /** `*` for any name, which narrows nothing. */
  sans_permitidos: Type.Array(Type.String()),
  sans_nomeados: Type.Boolean(),
  /** Their ids; hosts get them besides others. */
  cargas_automaticas: Type.Array(Type.String()),
  /** False takes from operators what the politica of the role leaves to them. */
  reenroll: nullable(Type.Boolean()),
})
export type AdminSelectorPolicy = Static<typeof AdminSelectorPolicy>

/** A carga with names that a politica forbids to agents that have it. */
export const AdminAffectedCargo = Type.Object({
  carga_id: Type.String(),
  nome: Type.String(),
  /** The forbidden names. */
  sans: Type.Array(Type.String()),
  /** Hostnames. */
  agentes: Type.Array(Type.String()),
})
export type AdminAffectedCargo = Static<typeof AdminAffectedCargo>

/** What a politica means for cargas that exist already. */
export const AdminPolicyEffect = Type.Object({
  /** Agents no longer renew the certificates of these cargas. */
  cargas_afetadas: Type.Array(AdminAffectedCargo),
})
export type AdminPolicyEffect = Static<typeof AdminPolicyEffect>

/** An agent to seal for. */
export const AdminRecipient = Type.Object({
  id: Type.String(),
  hostname: Type.String(),
  role: Type.String(),
  /** Null for an agent that has told the hub none: its version cannot open sealed files. */
  recipient: nullable(Type.String()),
  /** It matches the selector of the carga, which is not sealed for it yet. */
  waits: Type.Optional(Type.Literal(true)),
})
export type AdminRecipient = Static<typeof AdminRecipient>

export const AdminRecipients = Type.Object({
  agentes: Type.Array(AdminRecipient),
  /** The recipients of the carga besides its agents. */
  escrow: Type.Array(Type.String()),
  /** The most that a sealed file may hold. */
  content_bytes_max: Type.Integer(),
})
export type AdminRecipients = Static<typeof AdminRecipients>

export const AdminContent = Type.Object({
  carga_id: Type.String(),
  versao: Type.Integer(),
  sha256: Type.String(),
  /** Base64. */
  conteudo: Type.String(),
})
export type AdminContent = Static<typeof AdminContent>

/** The roots that are trusted now, and the agents that still trust other roots. */
export const AdminBundle = Type.Object({
  numero: Type.Integer(),
  /** The numero grows within its epoca. */
  epoca: Type.Integer(),
  /** Since when they are in force. */
  created_at: time,
  /** `<fleet>:<key>` that signed them; absent while no trust key signs the sets. */
  trust_key: Type.Optional(Type.String()),
  roots: Type.Array(
    Type.Object({
      /** SHA-256 of the DER, lower-case hex. */
      fingerprint: Type.String(),
      subject: Type.String(),
      not_before: time,
      not_after: time,
      is_valid: Type.Boolean(),
      /** Whether the hub's own certificate leads to it; false of all when no hub runs. */
      is_hubs_own: Type.Boolean(),
      /** How many identities and delivered certificates in use lead to it. */
      certificados: Type.Integer(),
    }),
  ),
  /** Certificates in use that a version issued which did not note the root. */
  certificados_unknown: Type.Integer(),
  /** Whether the root file holds other roots now; null when the hub cannot tell. */
  file_differs: nullable(Type.Boolean()),
  /** How many agents there are, without the revoked ones. */
  agentes: Type.Integer(),
  /** Agents that have not said that they trust exactly these roots. */
  pendentes: Type.Array(
    Type.Object({
      id: Type.String(),
      hostname: Type.String(),
      /** The numero of the set that the agent trusts; null for an agent that never said. */
      numero: nullable(Type.Integer()),
      /** A file on the host says which roots to trust. */
      is_pinned: Type.Boolean(),
      erro: nullable(Type.String()),
      reported_at: nullable(time),
    }),
  ),
  /** How many they are; with `pendentes_max` alone. */
  pendentes_total: Type.Optional(Type.Integer()),
})
export type AdminBundle = Static<typeof AdminBundle>

/** `endangered`: the agents that needed a root that is gone now. */
export const AdminUpdatedBundle = Type.Object({
  ...AdminBundle.properties,
  is_changed: Type.Boolean(),
  /** Its id, where agents are offered the set in waves. */
  rollout: nullable(Type.String()),
  endangered: Type.Array(
    Type.Object({ hostname: Type.String(), reasons: Type.Array(Type.String()) }),
  ),
})
export type AdminUpdatedBundle = Static<typeof AdminUpdatedBundle>

export const AdminEntry = Type.Object({
  seq: Type.Integer(),
  id: Type.String(),
  /** Null for the hub's own acts. */
  agente_id: nullable(Type.String()),
  /** Of that agent, while the hub knows it; null for the hub's own acts. Absent from earlier hubs. */
  hostname: Type.Optional(nullable(Type.String())),
  tipo_evento: Type.String(),
  payload: Type.Record(Type.String(), Type.Unknown()),
  /** The stored bytes, which the hash covers. */
  payload_text: Type.String(),
  entrega_id: nullable(Type.String()),
  request_id: nullable(Type.String()),
  timestamp: time,
  hash_anterior: Type.String(),
  hash_atual: Type.String(),
})
export type AdminEntry = Static<typeof AdminEntry>

export const AdminSegment = Type.Object({
  /** Its name in the directory of the hub. */
  file: Type.String(),
  first: Type.Integer(),
  last: Type.Integer(),
  first_at: time,
  last_at: time,
  /** Of its last entry. */
  hash_atual: Type.String(),
  bytes: Type.Integer(),
  /** `present`, `missing`, or `damaged` when the file has another length. */
  state: Type.String(),
  /** Base64, of the full subtrees that its entries are in the tree of the log. */
  tree: Type.Array(Type.String()),
})
export type AdminSegment = Static<typeof AdminSegment>

export const AdminCertificateCounts = Type.Object({
  valid: Type.Integer(),
  atrasado: Type.Integer(),
  expired: Type.Integer(),
})
export type AdminCertificateCounts = Static<typeof AdminCertificateCounts>

/** What /readyz knows, and what may become a reason. */
export const AdminHubHealth = Type.Object({
  ready: Type.Boolean(),
  subsystems: Type.Array(
    Type.Object({
      name: Type.String(),
      ready: Type.Boolean(),
      reason: Type.String(),
      /** When it ceased to be ready, as far as the hub knows. */
      since: nullable(time),
    }),
  ),
  remarks: Type.Array(Type.String()),
})
export type AdminHubHealth = Static<typeof AdminHubHealth>

const purpose = Type.Union([Type.Literal('identity'), Type.Literal('delivery')])

export const AdminSurvivalWithin = Type.Object({
  seconds: Type.Number(),
  /** Who loses a certificate first. */
  first: Type.Object({
    agente_id: Type.String(),
    hostname: Type.String(),
    purpose,
    nome: nullable(Type.String()),
    not_after: time,
  }),
  /** How many hosts lose their first certificate when the hub is down from now on for so many hours. */
  losing: Type.Array(Type.Object({ hours: Type.Integer(), agentes: Type.Integer() })),
})
export type AdminSurvivalWithin = Static<typeof AdminSurvivalWithin>

export const AdminStatus = Type.Object({
  version: Type.String(),
  /** Null without a running hub. */
  hub: nullable(AdminHubHealth),
  agentes: Type.Object({
    registered: Type.Integer(),
    atrasado: Type.Integer(),
    revoked: Type.Integer(),
  }),
  certificados: Type.Object({
    identity: AdminCertificateCounts,
    delivery: AdminCertificateCounts,
  }),
  /** By status; `revertida` are the installed ones with targets that are taken back, which their status counts too. */
  entregas: Type.Object({
    pendente: Type.Integer(),
    em_andamento: Type.Integer(),
    instalada: Type.Integer(),
    entregue: Type.Integer(),
    falhou: Type.Integer(),
    revertida: Type.Integer(),
  }),
  /** For how long the hub may stay down; null when no host has a certificate that could end. */
  survival: nullable(
    Type.Object({
      seconds: Type.Number(),
      first: Type.Object({
        hostname: Type.String(),
        purpose,
        nome: nullable(Type.String()),
        not_after: time,
        atrasado: Type.Boolean(),
      }),
      following_1h: Type.Integer(),
      following_24h: Type.Integer(),
    }),
  ),
  /** The act on many entregas that is under way, and how far it has got; null when no such act is. */
  mudanca: nullable(
    Type.Object({
      acao: Type.Union([
        Type.Literal('create'),
        Type.Literal('update'),
        Type.Literal('remove'),
        Type.Literal('retry'),
      ]),
      nome: nullable(Type.String()),
      total: Type.Integer(),
      prepared: Type.Integer(),
      settled: Type.Integer(),
    }),
  ),
  /** The rollouts that are neither done nor undone, oldest first, at most 20. */
  rollouts: Type.Array(
    Type.Object({
      id: Type.String(),
      kind: Type.String(),
      /** Of the carga; null of a rotation. */
      nome: nullable(Type.String()),
      state: Type.String(),
      /** From 1. */
      wave: Type.Integer(),
      waves: Type.Integer(),
      /** Why it is frozen. */
      reason: nullable(Type.String()),
    }),
  ),
  /** Until when, and why, rollouts are held back. */
  freeze: nullable(Type.Object({ until: time, why: Type.String() })),
  /** As `survival`, without the hosts that have a late certificate, which do not renew anyway. */
  survival_on_time: nullable(AdminSurvivalWithin),
})
export type AdminStatus = Static<typeof AdminStatus>
