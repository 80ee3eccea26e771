// The plan of a declared fleet: what the files say, what is there, what is different, and whether that may be. It is read from the
// store for a plan, and once more from the write that does it. docs/protocol.md DCL.

import { hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AdminFleetPlan } from '../../../../protocol/admin/declared.ts'
import type { AdminReplies, AdminRequest } from '../../../../protocol/admin/operations.ts'
import {
  type DeclaredObject,
  type FleetFacts,
  type FleetPlan,
  OBJECT,
  type ObjectChange,
  type OwnedField,
  planFleet as planFacts,
  type PresentObject,
} from '../../../domain/plan-fleet.ts'
import type { StoreReader } from '../../../store/store.ts'
import { AdminRefusal, type Read } from '../../admin-act.ts'
import type { AdminContext } from '../admin-context.ts'
import { readPage } from '../../read-page.ts'
import type { DeclaredContext } from './declarable.ts'
import { ADMIN_KINDS, DECLARABLES } from './declared-kinds.ts'

type Asked = AdminRequest<'planFleet'>

/** A plan with more is to be done in parts. */
const CHANGES_MAX = 2000

export type PlanContext = Pick<AdminContext, 'clock' | 'hubNames' | 'addresses' | 'roots'>

export interface ReadPlan extends FleetPlan {
  /** As it goes over the wire. */
  readonly view: AdminFleetPlan
  /** As the plan found it. */
  readonly owned: readonly OwnedField[]
  /** All that it was made of, as text. */
  readonly facts: string
}

export const planFleet: Read<'planFleet', PlanContext> = async (reader, request, context) => {
  const { clock, role, hubNames, addresses, roots } = context
  const declared = { now: clock.now(), hubNames, role, addresses, ...(roots && { roots }) }
  return (await readPlan(reader, request, declared, everybodysTurn)).view
}

/** Outside a write: what is read before and after it may be of two commits, which the etag then shows. */
export const everybodysTurn = (): Promise<void> => nextTurn()

/** Throws the refusals of what cannot be. */
export async function readPlan(
  reader: StoreReader,
  request: Asked,
  context: DeclaredContext,
  pause: () => Promise<void>,
): Promise<ReadPlan> {
  const facts = await readFacts(reader, request, context, pause)
  await pause()
  if (context.role !== 'admin') refuseHidden(facts)
  const plan = makePlan(facts)
  await pause()
  await checkPlan(reader, plan, context, pause)
  return plan
}

/** The plan once more, from the write that does it: of the same facts it is the same. A write has no pauses. */
export async function confirmPlan(
  reader: StoreReader,
  plan: ReadPlan,
  request: Asked,
  context: DeclaredContext,
): Promise<ReadPlan> {
  const noPause = (): Promise<void> => Promise.resolve()
  const facts = await readFacts(reader, request, context, noPause)
  const confirmed = textOf(facts) === plan.facts ? plan : makePlan(facts)
  await checkPlan(reader, confirmed, context, noPause)
  return confirmed
}

function makePlan(facts: FleetFacts): ReadPlan {
  const { changes: found, unlisted } = planFacts(facts)
  const changes = found.map((change) => kindOf(change).markTodo?.(change) ?? change)
  if (changes.length > CHANGES_MAX) {
    const message = `${changes.length} objects would change, and one apply changes at most ${CHANGES_MAX}: declare fewer of them`
    throw new AdminRefusal('fleet_too_large', message)
  }
  const { manager, isPruning, takesOver, declared, owned } = facts
  const looked = [manager, isPruning, takesOver, declared, owned, changes, unlisted]
  const etag = hash('sha256', JSON.stringify(looked), 'base64url')
  const view = viewPlan(etag, { changes, unlisted })
  return { changes, unlisted, owned, view, facts: textOf(facts) }
}

function textOf({ declared, present, owned }: FleetFacts): string {
  return JSON.stringify([declared, present, owned])
}

async function checkPlan(
  reader: StoreReader,
  { changes }: FleetPlan,
  context: DeclaredContext,
  pause: () => Promise<void>,
): Promise<void> {
  for (const { check } of DECLARABLES) {
    await check?.(reader, changes, context)
    await pause()
  }
}

async function readFacts(
  reader: StoreReader,
  request: Asked,
  context: DeclaredContext,
  pause: () => Promise<void>,
): Promise<FleetFacts> {
  const { manager, prune = false, take_over = false } = request
  const declared: DeclaredObject[] = []
  for (const { declare } of DECLARABLES) {
    declared.push(...(await declare(reader, request, context)))
    await pause()
  }
  refuseRepeated(declared)
  const ofManager = await reader.declared.listOwnedWith(manager)
  const present: PresentObject[] = []
  for (const { kind, read } of DECLARABLES) {
    const names = declared.filter((each) => each.kind === kind).map(({ name }) => name)
    const ids = new Set(ofManager.filter((each) => each.kind === kind).map(({ id }) => id))
    if (names.length + ids.size === 0) continue
    present.push(...(await read(reader, { names, ids: [...ids] }, context)))
    await pause()
  }
  const known = new Set(ofManager.map(({ kind, id }) => `${kind} ${id}`))
  const others = present.filter(({ kind, id }) => !known.has(`${kind} ${id}`))
  const owned = [...ofManager, ...(await reader.declared.listOwned(others))]
  await pause()
  return {
    manager,
    isPruning: prune,
    takesOver: take_over,
    declared,
    present,
    owned,
    whenUndeclared: (kind) => kindOf({ kind }).whenUndeclared,
  }
}

function kindOf({ kind }: Pick<ObjectChange, 'kind'>): (typeof DECLARABLES)[number] {
  const found = DECLARABLES.find((each) => each.kind === kind)
  if (found !== undefined) return found
  throw new AdminRefusal('request_invalid', `this hub declares no ${kind}`)
}

function refuseRepeated(declared: FleetFacts['declared']): void {
  const seen = new Set<string>()
  for (const { kind, name } of declared) {
    const key = `${kind} ${name}`
    if (seen.has(key)) {
      throw new AdminRefusal('declared_ambiguous', `${key} is declared more than once`)
    }
    seen.add(key)
  }
}

/** Lists of these are for role admin alone, and a plan says what is in them. */
function refuseHidden({ declared, owned }: FleetFacts): void {
  const hidden = [...declared, ...owned].find(({ kind }) => ADMIN_KINDS.has(kind))
  if (hidden === undefined) return
  throw new AdminRefusal(
    'plan_needs_admin',
    `the plan would tell of a ${hidden.kind}, which only role admin sees`,
  )
}

function viewPlan(etag: string, { changes, unlisted }: FleetPlan): AdminFleetPlan {
  return {
    etag,
    changes: changes.map(({ id: _id, takesObject, fields, takes, releases, ...change }) => ({
      ...change,
      fields: fields.map((field) => ({ ...field })),
      takes: [...takes],
      takes_object: takesObject,
      releases: [...releases],
    })),
    unlisted: unlisted.map(({ kind, name, field }) => ({
      kind,
      name,
      field: field === OBJECT ? null : field,
    })),
  }
}

export const listOwnedFields: Read<'listOwnedFields'> = async (reader, request, { role }) => {
  const { declared } = reader
  const { rows, next } = await readPage(request, declared.pageOwned.bind(declared), (row) => {
    const { place, kind, field, manager } = row
    // The path of a URL may be all that protects a receiver.
    const isHidden = kind === 'webhook' && role !== 'admin'
    const name = isHidden ? new URL(row.name).origin : row.name
    return { id: `${place}`, kind, name, field: field === OBJECT ? null : field, manager }
  })
  return { owners: rows, next } satisfies AdminReplies['listOwnedFields']
}
