// The words of fleet files: for each kind its keys in both languages, what each is on the wire, and how it is read and written. The hub
// says what an object may be; here is only its shape.

import type { DeclaredKind, FleetDeclaration } from '../../protocol/admin/declared.ts'
import {
  count,
  duration,
  durationOrNone,
  flag,
  labels,
  oneOf,
  type ReadValue,
  selectorOrNone,
  text,
  texts,
  writeDuration,
} from './fleet-values.ts'

export interface FleetKey {
  /** The English word first. */
  readonly words: readonly [string, ...string[]]
  readonly wire: string
  readonly read: ReadValue
  /** How a file has what the wire has; the same by default. */
  readonly write?: (value: unknown) => unknown
  /** It names the object, or makes it what it is. */
  readonly isRequired?: true
}

export interface FleetTable {
  readonly kind: DeclaredKind
  /** In a file; the English word first. */
  readonly words: readonly [string, ...string[]]
  /** In the declaration that goes over the wire. */
  readonly plural: keyof FleetDeclaration
  /** The first one names the object. */
  readonly keys: readonly [FleetKey, ...FleetKey[]]
}

const key = (words: FleetKey['words'], wire: string, read: ReadValue): FleetKey => ({
  words,
  wire,
  read,
})
/** A duration, which files have as a text and the wire in seconds. */
const lasting = (words: FleetKey['words'], wire: string, read: ReadValue): FleetKey => ({
  ...key(words, wire, read),
  write: writeDuration,
})
const required = (words: FleetKey['words'], wire: string, read: ReadValue): FleetKey => ({
  ...key(words, wire, read),
  isRequired: true,
})

const POLICY_BOUNDS: readonly FleetKey[] = [
  lasting(['token_ttl_max'], 'token_ttl_max', durationOrNone),
  lasting(['cert_ttl'], 'cert_ttl', durationOrNone),
  key(['sans', 'sans_permitidos'], 'sans_permitidos', texts),
  key(['loads', 'cargas_automaticas'], 'cargas_automaticas', texts),
  key(['reenroll'], 'reenroll', flag),
]

export const FLEET_TABLES: readonly FleetTable[] = [
  {
    kind: 'carga',
    words: ['load', 'carga'],
    plural: 'cargas',
    keys: [
      required(['name', 'nome'], 'nome', text),
      key(
        ['type', 'tipo'],
        'tipo',
        oneOf({ csr_cert: 'csr_cert', sealed: 'selado', selado: 'selado' }),
      ),
      key(['where'], 'where', text),
      key(['sans'], 'sans', texts),
      key(['sha256'], 'sha256', text),
    ],
  },
  {
    kind: 'politica',
    words: ['policy', 'politica'],
    plural: 'politicas',
    keys: [required(['role'], 'role', text), key(['name', 'nome'], 'nome', text), ...POLICY_BOUNDS],
  },
  {
    kind: 'politica_seletor',
    words: ['selector_policy', 'politica_seletor'],
    plural: 'politicas_seletor',
    keys: [
      required(['name', 'nome'], 'nome', text),
      key(['where'], 'where', text),
      ...POLICY_BOUNDS,
    ],
  },
  {
    kind: 'join_rule',
    words: ['join_rule'],
    plural: 'join_rules',
    keys: [
      required(['name', 'nome'], 'name', text),
      key(['method'], 'method', oneOf({ token: 'token', jwt: 'jwt' })),
      key(['pattern'], 'pattern', text),
      key(['role'], 'role', text),
      key(['max_hosts', 'hosts_max'], 'hosts_max', count),
      key(['labels'], 'labels', labels),
      lasting(['ttl'], 'ttl_seconds', duration),
      lasting(['revoke_after'], 'silent_seconds', durationOrNone),
    ],
  },
  {
    kind: 'webhook',
    words: ['webhook'],
    plural: 'webhooks',
    keys: [
      required(['url'], 'url', text),
      key(['types', 'tipos'], 'tipos', texts),
      key(['where'], 'where', selectorOrNone),
    ],
  },
  {
    kind: 'admin_token',
    words: ['admin_token'],
    plural: 'admin_tokens',
    keys: [required(['name', 'nome'], 'name', text), required(['only'], 'only', text)],
  },
  {
    kind: 'agente',
    words: ['agent', 'agente'],
    plural: 'agentes',
    keys: [required(['hostname'], 'hostname', text), required(['labels'], 'labels', labels)],
  },
]
