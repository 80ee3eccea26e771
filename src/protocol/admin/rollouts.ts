// Rollouts: the next version of a carga, a rotation of identities, or a newer agent, in waves; and freezes, in which none goes on.

import type { Static } from 'typebox'
import { expectedVersion, sealed } from './cargas.ts'
import {
  type AdminOperation,
  listRequest,
  next,
  nothing,
  nullable,
  text,
  time,
} from './operation.ts'
import { Type } from './plain-type.ts'

export const ROLLOUT_KINDS = ['load', 'rotation', 'roots', 'update'] as const
export const ROLLOUT_STATES = ['running', 'paused', 'frozen', 'undoing', 'undone', 'done'] as const
export const SOAK_MAX_SECONDS: number = 30 * 86_400
export const LATE_MIN_SECONDS = 60
export const LATE_DEFAULT_SECONDS = 3600
export const LATE_MAX_SECONDS: number = 30 * 86_400
export const FREEZE_MAX_SECONDS: number = 366 * 86_400
export const WHY_CHARACTERS_MAX = 512

export const AdminRollout = Type.Object({
  id: Type.String(),
  kind: Type.Enum([...ROLLOUT_KINDS]),
  /** Of a carga, as the next four; null of another kind. */
  carga_id: nullable(Type.String()),
  nome: nullable(Type.String()),
  tipo: nullable(Type.String()),
  /** What the hosts of its waves get; of roots the number of the set. */
  versao: nullable(Type.Integer()),
  /** Of an update: the version of the agent that hosts are told of. */
  programa: nullable(Type.String()),
  sans: Type.Array(Type.String()),
  /** Of a rotation or an update: which hosts are asked or told; null for all. */
  where: nullable(Type.String()),
  state: Type.Enum([...ROLLOUT_STATES]),
  /** `5`, or `10%`: how many hosts have the version, or are asked, once the wave is open, all waves before it included. */
  waves: Type.Array(Type.String()),
  /** The wave that is open, or being opened; the first one is 1. */
  wave: Type.Integer(),
  opened_at: time,
  /** So many hosts the wave is to reach; 0 before the first one is counted. */
  wanted: Type.Integer(),
  /** So many were given the version, or asked. */
  given: Type.Integer(),
  soak_seconds: Type.Integer(),
  late_seconds: Type.Integer(),
  max_failed: Type.String(),
  /** Why it is frozen. */
  reason: nullable(Type.String()),
  started_by: Type.String(),
  /** Who paused, resumed or undid it last. */
  changed_by: nullable(Type.String()),
  created_at: time,
  ended_at: nullable(time),
})
export type AdminRollout = Static<typeof AdminRollout>

const hostCounts = {
  pending: Type.Integer(),
  unprobed: Type.Integer(),
  done: Type.Integer(),
  failed: Type.Integer(),
  /** They do not follow announced updates, or have a newer version: in none of the others. */
  declined: Type.Integer(),
}

export const AdminRolloutDetails = Type.Object({
  ...AdminRollout.properties,
  /** What it waits for, in words. */
  waits_for: Type.String(),
  hosts: Type.Object({
    ...hostCounts,
    /** So many may fail before the rollout freezes. */
    failures_allowed: Type.Integer(),
  }),
  by_wave: Type.Array(Type.Object({ wave: Type.Integer(), ...hostCounts })),
  /** Of a carga at most 20 hosts that failed, and 20 that put a target back; of another kind at most 20 that refused it or failed, 20 that are waited for, and 20 that declined an update. */
  failures: Type.Array(
    Type.Object({
      hostname: Type.String(),
      entrega_id: nullable(Type.String()),
      status: Type.String(),
      erro: nullable(Type.String()),
    }),
  ),
})
export type AdminRolloutDetails = Static<typeof AdminRolloutDetails>

export const AdminFreeze = Type.Object({
  until: time,
  why: Type.String(),
  set_by: Type.String(),
  set_at: time,
})
export type AdminFreeze = Static<typeof AdminFreeze>

/** By id, by the name or id of the carga whose rollout is open, or `rotation`, `roots` or `update` for the one of that kind that is open. */
const byName = Type.Object({ rollout: text })

export const rolloutRules = {
  waves: Type.Array(Type.String({ maxLength: 16 }), { minItems: 1, maxItems: 20 }),
  soak_seconds: Type.Integer({ minimum: 0, maximum: SOAK_MAX_SECONDS }),
  max_failed: Type.String({ maxLength: 16 }),
  late_seconds: Type.Optional(
    Type.Integer({ minimum: LATE_MIN_SECONDS, maximum: LATE_MAX_SECONDS }),
  ),
}

const AdminStartedRollout = Type.Object({
  ...AdminRollout.properties,
  /** How many hosts it is for now. */
  hosts: Type.Integer(),
  /** As the hosts are now. */
  planned: Type.Array(Type.Object({ wave: Type.String(), hosts: Type.Integer() })),
  /** Until when a freeze holds the first wave back. */
  frozen_until: nullable(time),
})

export const ROLLOUT_OPERATIONS = {
  startRollout: {
    does: 'creates',
    method: 'POST',
    path: '/v1/admin/rollouts',
    role: 'operator',
    isFleetWide: true,
    summary: 'The next versao of a carga, in waves: the hub opens them one after the other.',
    request: Type.Object({
      carga: text,
      /** In place of the names that it has; without them they stay. */
      sans: Type.Optional(Type.Array(text, { maxItems: 100 })),
      /** The next content of a carga of tipo selado, for exactly the agents that it has. */
      selado: Type.Optional(sealed),
      versao: Type.Optional(expectedVersion),
      ...rolloutRules,
    }),
    reply: AdminStartedRollout,
  },
  startRotation: {
    does: 'creates',
    method: 'POST',
    path: '/v1/admin/rollouts/rotation',
    role: 'operator',
    isFleetWide: true,
    summary: 'Hosts renew their identities, in waves: the hub asks them, one wave after the other.',
    request: Type.Object({
      /** Which hosts, as a selector; without it all. */
      where: Type.Optional(text),
      ...rolloutRules,
    }),
    reply: AdminStartedRollout,
  },
  startUpdate: {
    does: 'creates',
    method: 'POST',
    path: '/v1/admin/rollouts/update',
    role: 'operator',
    isFleetWide: true,
    summary:
      'Hosts are told of a newer version of their agent, in waves. What they install is signed, and from where they are set to take it.',
    request: Type.Object({
      /** Such as 0.5.0. */
      programa: Type.String({ maxLength: 32 }),
      /** Which hosts, as a selector; without it all. */
      where: Type.Optional(text),
      ...rolloutRules,
    }),
    reply: AdminStartedRollout,
  },
  listRollouts: {
    does: 'reads',
    method: 'GET',
    path: '/v1/admin/rollouts',
    role: 'viewer',
    summary: 'The rollouts, newest first.',
    request: listRequest,
    reply: Type.Object({ rollouts: Type.Array(AdminRollout), next }),
  },
  showRollout: {
    does: 'reads',
    method: 'POST',
    path: '/v1/admin/rollouts/show',
    role: 'viewer',
    summary: 'A rollout: how its hosts are, and what it waits for.',
    request: byName,
    reply: AdminRolloutDetails,
  },
  pauseRollout: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/rollouts/pause',
    role: 'operator',
    summary: 'Open no further wave; hosts that were given the version go on.',
    request: byName,
    reply: AdminRollout,
  },
  resumeRollout: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/rollouts/resume',
    role: 'operator',
    summary:
      'Go on with a rollout that is paused or frozen, and accept the hosts that failed until now.',
    request: byName,
    reply: AdminRollout,
  },
  undoRollout: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/rollouts/undo',
    role: 'operator',
    summary: 'End a rollout: its hosts get the last good version again, the others keep it.',
    request: byName,
    reply: AdminRollout,
  },
  setFreeze: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/freeze',
    role: 'operator',
    summary: 'No rollout goes on until then. Renewals go on.',
    request: Type.Object({
      until: text,
      why: Type.String({ minLength: 1, maxLength: WHY_CHARACTERS_MAX }),
    }),
    reply: AdminFreeze,
  },
  showFreeze: {
    does: 'reads',
    method: 'GET',
    path: '/v1/admin/freeze',
    role: 'viewer',
    summary: 'The freeze that holds, if one does, and how many rollouts it holds back.',
    request: nothing,
    reply: Type.Object({ freeze: nullable(AdminFreeze), rollouts: Type.Integer() }),
  },
  endFreeze: {
    does: 'changes',
    method: 'POST',
    path: '/v1/admin/freeze/end',
    role: 'operator',
    summary: 'End the freeze that holds.',
    request: nothing,
    reply: AdminFreeze,
  },
} as const satisfies Readonly<Record<string, AdminOperation>>
