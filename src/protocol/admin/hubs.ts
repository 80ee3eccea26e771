// The hubs that share the vault.

import type { Static } from 'typebox'
import { type AdminOperation, nothing, nullable, text, time } from './operation.ts'
import { Type } from './plain-type.ts'

export const AdminHubRow = Type.Object({
  id: Type.String(),
  /** Of its machine; null when another vault wrote what is there. */
  host: nullable(Type.String()),
  version: nullable(Type.String()),
  /** The newest version of the vault's tables that it knows. */
  tables: nullable(Type.Integer()),
  started_at: nullable(time),
  /** `running`; `silent`: no beat for five seconds; `stopped`: it said so itself. */
  state: Type.Enum(['running', 'silent', 'stopped'] as const),
  last_beat_at: time,
  /** By the database's clock. */
  silent_ms: Type.Integer(),
  /** How many records of others it has yet to run. */
  behind: Type.Integer(),
  /** How far its clock is ahead of the database's. */
  clock_ahead_ms: Type.Integer(),
  /** What it does for all of them: `jobs`, `changes`. */
  leases: Type.Array(Type.String()),
  /** The one that answers. */
  is_this: Type.Boolean(),
})
export type AdminHubRow = Static<typeof AdminHubRow>

export const HUBS_OPERATIONS = {
  listHubs: {
    does: 'reads',
    method: 'GET',
    path: '/v1/admin/hubs',
    role: 'viewer',
    summary: 'The hubs that share the vault, and how each of them is.',
    request: nothing,
    reply: Type.Object({ hubs: Type.Array(AdminHubRow) }),
  },
  removeHub: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/hubs/remove',
    role: 'admin',
    summary: 'Take a hub from those that share the vault; what it does from then on is refused.',
    request: Type.Object({
      /** Its id, or the name of its machine. */
      hub: text,
      /** Also one that runs. */
      force: Type.Optional(Type.Boolean()),
    }),
    reply: AdminHubRow,
  },
} as const satisfies Readonly<Record<string, AdminOperation>>
