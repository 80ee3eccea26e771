// What is different between the fleet that somebody declared and the one that there is, and who owns which field. It knows
// nothing of what the objects are. docs/protocol.md DCL.

import type { DeclaredKind } from '../../protocol/admin/declared.ts'

/** As JSON has it, lists and records in an order of their own: the same value is the same text. */
export type FieldValue =
  | null
  | boolean
  | number
  | string
  | readonly string[]
  | Readonly<Record<string, string>>
export type Fields = Readonly<Record<string, FieldValue>>

export interface DeclaredObject {
  readonly kind: DeclaredKind
  readonly name: string
  /** Those that were declared; others are left alone. */
  readonly fields: Fields
}

export interface PresentObject {
  readonly kind: DeclaredKind
  readonly name: string
  /** Never given to another object. */
  readonly id: string
  readonly fields: Fields
}

export interface OwnedField {
  readonly kind: DeclaredKind
  /** Of the object. */
  readonly id: string
  readonly name: string
  /** `OBJECT` for the object itself. */
  readonly field: string
  readonly manager: string
}

/** In the place of a field: who owns the object itself may remove it. */
export const OBJECT = ''

/**
 * What becomes of what is owned and no longer declared: the object goes, or each such field does, when the plan prunes; or
 * nothing goes, and nobody owns it any more.
 */
export type WhenUndeclared = 'remove object' | 'remove fields' | 'release'

export interface FleetFacts {
  readonly manager: string
  readonly isPruning: boolean
  readonly takesOver: boolean
  readonly declared: readonly DeclaredObject[]
  /** All that is declared or owned, where it is there. */
  readonly present: readonly PresentObject[]
  /** All that is owned of what is declared, and of what this manager owns something of. */
  readonly owned: readonly OwnedField[]
  readonly whenUndeclared: (kind: DeclaredKind) => WhenUndeclared
}

export interface FieldChange {
  readonly field: string
  readonly before: FieldValue
  readonly after: FieldValue
  /** Another manager that owns it, so it does not become this manager’s. */
  readonly owner: string | null
  /** What an operator has to do, where no apply can. */
  readonly todo: string | null
}

export interface ObjectChange {
  readonly kind: DeclaredKind
  readonly name: string
  /** Null for what is not there. */
  readonly id: string | null
  readonly action: 'create' | 'update' | 'remove' | 'own' | 'todo'
  readonly fields: readonly FieldChange[]
  readonly takes: readonly string[]
  readonly takesObject: boolean
  readonly releases: readonly string[]
  readonly todo: string | null
}

export interface FleetPlan {
  readonly changes: readonly ObjectChange[]
  /** Owned, no longer declared, and left where it is; `field` is `OBJECT` for all of it. */
  readonly unlisted: readonly Pick<OwnedField, 'kind' | 'name' | 'field'>[]
}

export function planFleet(facts: FleetFacts): FleetPlan {
  const present = new Map(facts.present.map((each) => [keyOf(each.kind, each.id), each]))
  const named = new Map(facts.present.map((each) => [keyOf(each.kind, each.name), each]))
  const owned = Map.groupBy(facts.owned, ({ kind, id }) => keyOf(kind, id))
  const changes: ObjectChange[] = []
  const unlisted: FleetPlan['unlisted'][number][] = []
  const seen = new Set<string>()
  for (const declared of facts.declared) {
    const found = named.get(keyOf(declared.kind, declared.name))
    if (found === undefined) {
      changes.push(creation(declared))
      continue
    }
    const key = keyOf(found.kind, found.id)
    seen.add(key)
    changes.push(...planPresent(facts, found, declared, owned.get(key) ?? [], unlisted))
  }
  for (const [key, rows] of owned) {
    const found = present.get(key)
    if (found === undefined || seen.has(key)) continue
    changes.push(...planUndeclared(facts, found, rows, unlisted))
  }
  return { changes, unlisted }
}

function creation({ kind, name, fields }: DeclaredObject): ObjectChange {
  return {
    kind,
    name,
    id: null,
    action: 'create',
    fields: Object.entries(fields).map(([field, after]) => change(field, null, after)),
    takes: Object.keys(fields),
    takesObject: true,
    releases: [],
    todo: null,
  }
}

function planPresent(
  facts: FleetFacts,
  { kind, name, id, fields: before }: PresentObject,
  declared: DeclaredObject,
  rows: readonly OwnedField[],
  unlisted: FleetPlan['unlisted'][number][],
): readonly ObjectChange[] {
  const { manager, takesOver } = facts
  const owners = new Map(rows.map((row) => [row.field, row.manager]))
  const fields: FieldChange[] = []
  const takes: string[] = []
  for (const [field, after] of Object.entries(declared.fields)) {
    const owner = owners.get(field)
    const isOthers = owner !== undefined && owner !== manager && !takesOver
    const old = valueOf(before, field)
    if (!isSame(old, after)) fields.push(change(field, old, after, isOthers ? owner : null))
    if (owner !== manager && !isOthers) takes.push(field)
  }
  const gone = rows.filter(
    (row) =>
      row.manager === manager && row.field !== OBJECT && !Object.hasOwn(declared.fields, row.field),
  )
  const rest = planGone(facts, { kind, name, fields: before }, gone, unlisted)
  fields.push(...rest.fields)
  const ownerOfObject = owners.get(OBJECT)
  const takesObject =
    facts.whenUndeclared(kind) === 'remove object' &&
    (ownerOfObject === undefined || (ownerOfObject !== manager && takesOver))
  return withEffect({ kind, name, id, fields, takes, takesObject, releases: rest.releases })
}

/** Fields that the manager owns and does not declare any more. */
function planGone(
  { isPruning, whenUndeclared }: FleetFacts,
  { kind, name, fields: before }: Omit<PresentObject, 'id'>,
  gone: readonly OwnedField[],
  unlisted: FleetPlan['unlisted'][number][],
): Pick<ObjectChange, 'fields' | 'releases'> {
  const names = gone.map(({ field }) => field)
  if (whenUndeclared(kind) !== 'remove fields') return { fields: [], releases: names }
  // What somebody else removed nobody owns any more.
  const isThere = (field: string): boolean => Object.hasOwn(before, field)
  const [there, lost] = [names.filter(isThere), names.filter((field) => !isThere(field))]
  if (!isPruning) {
    unlisted.push(...there.map((field) => ({ kind, name, field })))
    return { fields: [], releases: lost }
  }
  return {
    fields: there.map((field) => change(field, valueOf(before, field), null)),
    releases: names,
  }
}

function planUndeclared(
  facts: FleetFacts,
  found: PresentObject,
  rows: readonly OwnedField[],
  unlisted: FleetPlan['unlisted'][number][],
): readonly ObjectChange[] {
  const { manager, isPruning, takesOver } = facts
  const { kind, name, id } = found
  const own = rows.filter((row) => row.manager === manager)
  const isOwnObject = own.some(({ field }) => field === OBJECT)
  if (facts.whenUndeclared(kind) !== 'remove object' || !isOwnObject) {
    const rest = planGone(facts, found, own, unlisted)
    return withEffect({ kind, name, id, ...rest, takes: [], takesObject: false })
  }
  if (!isPruning) {
    unlisted.push({ kind, name, field: OBJECT })
    return []
  }
  // With the object goes what others own of it.
  const others = takesOver ? [] : rows.filter((row) => row.manager !== manager)
  const fields = others.map(({ field, manager: owner }) =>
    change(field, valueOf(found.fields, field), null, owner),
  )
  const nothing = { takes: [], takesObject: false, releases: [], todo: null }
  return [{ kind, name, id, action: 'remove', fields, ...nothing }]
}

function withEffect(planned: Omit<ObjectChange, 'action' | 'todo'>): readonly ObjectChange[] {
  const { fields, takes, takesObject, releases } = planned
  if (fields.length > 0) return [{ ...planned, action: 'update', todo: null }]
  const isOwned = takes.length > 0 || takesObject || releases.length > 0
  return isOwned ? [{ ...planned, action: 'own', todo: null }] : []
}

function change(
  field: string,
  before: FieldValue,
  after: FieldValue,
  owner: string | null = null,
): FieldChange {
  return { field, before, after, owner, todo: null }
}

/** A label may be called as what every object has. */
function valueOf(fields: Fields, field: string): FieldValue {
  return Object.hasOwn(fields, field) ? (fields[field] ?? null) : null
}

function isSame(one: FieldValue, other: FieldValue): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}

function keyOf(kind: DeclaredKind, name: string): string {
  return `${kind} ${name}`
}

/** What another manager owns and would change: an apply refuses all when there is one. */
export function findOthersField(
  plan: FleetPlan,
): { readonly change: ObjectChange; readonly field: FieldChange } | undefined {
  for (const each of plan.changes) {
    const field = each.fields.find(({ owner }) => owner !== null)
    if (field !== undefined) return { change: each, field }
  }
  return undefined
}
