// What the use case of an admin operation is given and answers. It is done by admin/perform-operation.ts alone, in one commit
// unless it says otherwise: what it records, keeps and tells is what it answers.

import { UserError } from '../../platform/errors.ts'
import type { AdminErrorCode, AdminErrorDetails } from '../../protocol/admin/errors.ts'
import type {
  AdminNamesOf,
  AdminOperationName,
  AdminReplies,
  AdminRequest,
} from '../../protocol/admin/operations.ts'
import type { AdminRehearsal } from '../../protocol/admin/operation.ts'
import type { AdminRole } from '../../protocol/admin/roles.ts'
import type { Selector } from '../../protocol/selector.ts'
import type { AgentId, DeliveryId, TokenHash } from '../../protocol/identifiers.ts'
import type { HubEventType } from '../../protocol/words.ts'
import type { Actor } from '../domain/actor.ts'
import type { NewAuditEntry } from '../domain/audit-entry.ts'
import type { News, StoreReader, StoreWriter } from '../store/store.ts'
import { hubAct } from './hub-acts.ts'

/** Who asks: some acts depend on the role. */
export interface AdminAsker {
  readonly actor: Actor
  /** `admin` for a caller that has the vault itself, or its socket. */
  readonly role: AdminRole
  /** The hosts that it sees and touches; undefined for all. docs/protocol.md LBL-16. */
  readonly only?: Selector | undefined
  /** The session that asks, by the hash of its cookie. */
  readonly session?: TokenHash | undefined
  /** The passkey that confirmed the act, by its id. docs/protocol.md PKY-9. */
  readonly confirmedBy?: string | undefined
  /** The admin token that asks, or whose session does; undefined for a caller that has the vault. */
  readonly token?: TokenHash | undefined
}

/** What the audit log says of the act, beside the actor; never a secret. */
export interface AdminAct {
  readonly type: HubEventType
  readonly payload: Readonly<Record<string, unknown>>
  readonly deliveryId?: DeliveryId | null
}

/** What an admin operation refuses, by a code that has its status. */
export class AdminRefusal extends UserError {
  override name = 'AdminRefusal'
  /** What the message says of this very case, for programs. */
  readonly details: AdminErrorDetails | undefined
  constructor(code: AdminErrorCode, message: string, details?: AdminErrorDetails) {
    super(code, message)
    this.details = details
  }
}

export interface Done<Reply> {
  readonly acts: readonly AdminAct[]
  /** A function is called after the commit: for what takes long, or leaves the hub. A create answers at once. */
  readonly reply: Reply | (() => Promise<Reply>)
  readonly news?: News
}

export type Read<Name extends AdminNamesOf<'reads'>, Context = unknown> = (
  reader: StoreReader,
  request: AdminRequest<Name>,
  context: Context & AdminAsker,
) => Promise<AdminReplies[Name]>

type ChangeName = AdminNamesOf<'changes' | 'creates'>

/** In one commit, all or nothing. It awaits nothing but its writer. */
export type Write<Name extends ChangeName, Context = unknown> = (
  writer: StoreWriter,
  request: AdminRequest<Name>,
  context: Context & AdminAsker,
) => Promise<Done<AdminReplies[Name]>>

/** Not in one commit alone. */
export interface Course<Name extends ChangeName, Context = unknown> {
  readonly run: (
    turn: AdminTurn,
    request: AdminRequest<Name>,
    context: Context & AdminAsker,
  ) => Promise<AdminReplies[Name]>
}

/** What such a one is done by. */
export interface AdminTurn {
  /** Ends an act that is only rehearsed, in place of its several commits. Undefined when the act is to be done. */
  readonly rehearse?: (
    acts: readonly AdminAct[],
    agents: readonly AgentId[],
    /** What the act would mean beside that. */
    politica?: AdminRehearsal['politica'],
  ) => never
  /** One commit, as the commit of a Write. */
  commit<Reply>(write: (writer: StoreWriter) => Promise<Done<Reply>>): Promise<Reply>
  /** Inside another commit, the one that puts the act in force. `kept` is what a repeated create is answered from. */
  conclude(writer: StoreWriter, acts: readonly AdminAct[], kept?: object): Promise<void>
  /** Before the first of several commits; throws what ends the act when it was done before. */
  refuseRepetition(): Promise<void>
  spread(news: News): Promise<void>
}

export type UseCase<Name extends AdminOperationName, Context> =
  Name extends AdminNamesOf<'reads'>
    ? Read<Name, Context>
    : Name extends ChangeName
      ? Write<Name, Context> | Course<Name, Context>
      : never

export function entriesOfActs(
  acts: readonly AdminAct[],
  at: Date,
  actor: Actor | 'hub',
  confirmedBy?: string,
): readonly NewAuditEntry[] {
  const by = { actor, ...(confirmedBy !== undefined && { confirmed_by: confirmedBy }) }
  return acts.map(({ type, payload, deliveryId }) =>
    hubAct(at, type, { ...by, ...payload }, deliveryId ?? null),
  )
}
