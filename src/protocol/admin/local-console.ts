// What `svc console` answers by itself, beside the operations that it passes on to the hub: whom the page may seal for. docs/protocol.md LOC.

import type { Static } from 'typebox'
import { nullable, text } from './operation.ts'
import { Type } from './plain-type.ts'
import { AdminRecipients } from './views.ts'

export const LOCAL_CONSOLE_ROUTES = {
  /** Only `svc console` has it: a page that gets it may seal. */
  showLocalConsole: { method: 'GET', path: '/v1/console/local' },
  /** Whom a file may be sealed for, by what this person has vouched for. */
  judgeRecipients: { method: 'POST', path: '/v1/console/recipients' },
  /** Once the hub has the file: what was vouched for counts from then on. */
  keepRecipients: { method: 'POST', path: '/v1/console/recipients/keep' },
} as const

export const LOCAL_BODY_BYTES_MAX: number = 1024 * 1024

export const LocalConsole = Type.Object({
  /** The hub's origin, or the path of its admin socket. */
  hub: text,
  /** The file of the pins. */
  pins: text,
})
export type LocalConsole = Static<typeof LocalConsole>

export const JudgeRequest = Type.Object({
  /** The next content of this carga, by its id; or a new carga, for the agents that the others name. */
  carga: Type.Optional(text),
  agentes: Type.Array(text, { maxItems: 10_000 }),
  roles: Type.Array(text, { maxItems: 100 }),
  where: Type.Optional(text),
  /** Fingerprints, typed from what the hosts show. */
  vouched: Type.Array(Type.String({ pattern: '^SHA256:[A-Za-z0-9+/]{43}$' }), {
    maxItems: 10_000,
  }),
})
export type JudgeRequest = Static<typeof JudgeRequest>

const Stranger = Type.Object({
  /** Null of an escrow recipient. */
  hostname: nullable(Type.String()),
  fingerprint: Type.String(),
  /** What is known in its place; null when it is new here. */
  earlier: nullable(Type.String()),
})

export const JudgedRecipients = Type.Object({
  /** Those that want this person's word; while there are any, nothing is to be sealed. */
  strangers: Type.Array(Stranger),
  agentes: Type.Array(
    Type.Object({
      id: Type.String(),
      hostname: Type.String(),
      recipient: Type.String(),
      fingerprint: Type.String(),
    }),
  ),
  escrow: Type.Array(Type.String()),
  /** Hosts of the selector that have told no recipient, and wait. */
  left_out: Type.Array(Type.String()),
  content_bytes_max: AdminRecipients.properties.content_bytes_max,
  /** For `keepRecipients`; null while there are strangers. */
  ticket: nullable(Type.String()),
})
export type JudgedRecipients = Static<typeof JudgedRecipients>

export const KeepRequest = Type.Object({
  ticket: text,
  carga_id: text,
  versao: Type.Integer({ minimum: 1 }),
  /** Of the sealed file, in hex. */
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
})
export type KeepRequest = Static<typeof KeepRequest>
