// The stream of what has changed, beside the admin operations: server-sent events, which ring and say nothing more. docs/protocol.md DOR.

import { Type } from './plain-type.ts'
import type { Static } from 'typebox'
import { nullable, time } from './operation.ts'

export const CHANGES_ROUTE = { method: 'GET', path: '/v1/admin/changes' } as const

const id = Type.Optional(Type.String())

/** Of each `event`, what its `data` is. */
export const CHANGE_MESSAGES = {
  /** The first one. `seq` is the last entry of the log. */
  hello: Type.Object({ seq: Type.Integer(), time }),
  /** An entry, by its ids alone; which of them it has depends on its type. */
  entry: Type.Object({
    seq: Type.Integer(),
    tipo: Type.String(),
    agente_id: id,
    entrega_id: id,
    carga_id: id,
    webhook_id: id,
    join_rule_id: id,
    token_id: id,
    admin_token_id: id,
    rollout: id,
  }),
  /** In the place of the entries after `after` up to `seq`. */
  many: Type.Object({ after: Type.Integer(), seq: Type.Integer() }),
  /** An agent holds its stream at this hub, or no longer does; null stands for several agents. */
  presence: Type.Object({ agente_id: nullable(Type.String()) }),
  /** The caller asked for what comes after `asked`, and the log ends before: it is another log, or that of a backup. */
  reset: Type.Object({ seq: Type.Integer(), asked: Type.Integer() }),
  /** Readers wait so many times as long before they ask: one for each ten streams of the hub. */
  pace: Type.Object({ stretch: Type.Integer({ minimum: 1 }) }),
  /** The last one, and why. */
  end: Type.Object({ error: Type.String(), message: Type.String() }),
} as const

export type ChangeEvent = keyof typeof CHANGE_MESSAGES
export type ChangeMessage<Event extends ChangeEvent> = Static<(typeof CHANGE_MESSAGES)[Event]>
/** An entry as the stream tells it. */
export type Doorbell = ChangeMessage<'entry'>
