// What a kind of object has to know to be declared: how files name it, what it is now, what cannot be, and how it becomes so.

import type { DeclaredKind, FleetDeclaration } from '../../../../protocol/admin/declared.ts'
import type { AdminReplies } from '../../../../protocol/admin/operations.ts'
import type { AdminRole } from '../../../../protocol/admin/roles.ts'
import type {
  DeclaredObject,
  FieldValue,
  ObjectChange,
  PresentObject,
  WhenUndeclared,
} from '../../../domain/plan-fleet.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import type { AgentCommandContext } from '../agent-command.ts'

export interface DeclaredContext extends AgentCommandContext {
  readonly now: Date
  readonly hubNames: readonly string[]
  readonly role: AdminRole
}

export interface WantedObjects {
  readonly names: readonly string[]
  readonly ids: readonly string[]
}

export interface Declarable {
  readonly kind: DeclaredKind
  readonly whenUndeclared: WhenUndeclared
  /** Each field in the form in which it is compared. Throws the refusals of what no such object may be. */
  declare(
    this: void,
    reader: StoreReader,
    declaration: FleetDeclaration,
    context: DeclaredContext,
  ): Promise<readonly DeclaredObject[]>
  /** Of these names or ids, those that are there. */
  read(
    this: void,
    reader: StoreReader,
    wanted: WantedObjects,
    context: DeclaredContext,
  ): Promise<readonly PresentObject[]>
  /** The change with what no apply can do marked. */
  markTodo?(this: void, change: ObjectChange): ObjectChange
  /** Throws the refusals of what would be once all of the plan is done. */
  check?(
    this: void,
    reader: StoreReader,
    changes: readonly ObjectChange[],
    context: DeclaredContext,
  ): Promise<void>
  /** Does the changes of its kind; of other kinds it only looks at them. */
  apply(
    this: void,
    writer: StoreWriter,
    changes: readonly ObjectChange[],
    context: DeclaredContext,
  ): Promise<readonly AppliedChange[]>
}

export interface AppliedChange {
  readonly name: string
  readonly id: string
  /** What the log says of it beside. */
  readonly said?: Readonly<Record<string, unknown>>
  readonly joinToken?: AdminReplies['applyFleet']['join_tokens'][number]
  readonly webhookSecret?: AdminReplies['applyFleet']['webhook_secrets'][number]
}

/** Those that change something of the object itself. */
export function changesOf(
  changes: readonly ObjectChange[],
  kind: DeclaredKind,
  ...actions: readonly ObjectChange['action'][]
): readonly ObjectChange[] {
  return changes.filter((each) => each.kind === kind && actions.includes(each.action))
}

/** What the fields become that an apply can change. */
export function valuesAfter({ fields }: ObjectChange): Readonly<Record<string, FieldValue>> {
  return Object.fromEntries(
    fields.filter(({ todo }) => todo === null).map(({ field, after }) => [field, after]),
  )
}

/** Leaves out what was not declared. */
export function present<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }
}

export function sorted(values: Iterable<string>): string[] {
  return [...new Set(values)].toSorted()
}
