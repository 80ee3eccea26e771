import { setImmediate as nextTurn } from 'node:timers/promises'
import { LIST_PAGE_MAX } from '../../../protocol/admin/bounds.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import type { AdminDelivery } from '../../../protocol/admin/views.ts'
import { bothOf, type Selector } from '../../../protocol/selector.ts'
import type { CargoId, DeliveryId } from '../../../protocol/identifiers.ts'
import { isStanding } from '../../domain/delivery.ts'
import type { DeliveryWithCargo, LateRule, StoreReader } from '../../store/store.ts'
import { AdminRefusal, type Read } from '../admin-act.ts'
import { keepMatchingAgents } from '../agent-slices.ts'
import { findCargo } from '../cargo/find-cargo.ts'
import { findAgent } from '../find-agent.ts'
import { parseWhere } from '../parse-where.ts'
import type { AdminContext } from './admin-context.ts'
import { viewDeliveries } from './view-deliveries.ts'
import {
  type Walk,
  walkAgent,
  walkAll,
  walkCargo,
  walkHosts,
  walkStatus,
} from './walk-deliveries.ts'

type Request = AdminRequest<'findDeliveries'>

/** Of the wire it is no status: the hub says it of an installed entrega whose host has taken back a target. */
const REVERTED = 'revertida'

/** docs/protocol.md API-61. */
export const findDeliveries: Read<
  'findDeliveries',
  Pick<AdminContext, 'clock' | 'renewalThresholdMs' | 'waiting'>
> = async (reader, request, { clock, renewalThresholdMs: thresholdMs, waiting, only }) => {
  const { limit = LIST_PAGE_MAX } = request
  const rule = { now: clock.now(), thresholdMs }
  const where = bothOf(only, selectorOf(request))
  // Whether there is a carga of the name at other hosts is not for a caller that is bounded to some.
  const { carga, ...rest } = request
  const asked = only === undefined ? request : rest
  const isOfCargo = ({ nome, carga_id: id }: AdminDelivery): boolean =>
    only === undefined || carga === undefined || nome === carga || id === carga
  const found: AdminDelivery[] = []
  for await (const deliveries of await chooseWalk(reader, asked, { where, only }, rule)) {
    const views = await keepMatching(reader, asked, where, rule, deliveries, waiting)
    found.push(...views.filter(isOfCargo))
    // One more than wanted tells whether there is a next page.
    if (found.length > limit) break
    await nextTurn()
  }
  const entregas = found.slice(0, limit)
  const isWhole = request.after === undefined && found.length <= limit
  return {
    entregas,
    next: found.length > limit ? (entregas.at(-1)?.id ?? null) : null,
    total: isWhole ? found.length : null,
  }
}

interface Bounds {
  /** What the request and the caller's bound both match. */
  readonly where: Selector | undefined
  readonly only: Selector | undefined
}

/** Undefined when the request names neither roles nor labels. */
function selectorOf({ role, where }: Request): Selector | undefined {
  const ofRole = { terms: [{ key: 'role', values: [role ?? ''], isNegated: false }] }
  return bothOf(
    role === undefined ? undefined : ofRole,
    where === undefined ? undefined : parseWhere(where),
  )
}

/** An order that no index has would be a sort of the whole fleet. */
async function chooseWalk(
  reader: StoreReader,
  request: Request,
  { where, only: bound }: Bounds,
  rule: LateRule,
): Promise<Walk> {
  const { all = false, agente, carga, status = [], late, sort, after, q } = request
  const start = after === undefined ? undefined : await findStart(reader, after)
  if (agente !== undefined) {
    if (sort !== undefined && sort !== 'host') {
      throw unsorted(sort, 'the deliveries of one agent come by name: leave sort out')
    }
    return walkAgent(reader, (await findAgent(reader, agente, bound)).id, start)
  }
  if (carga !== undefined) {
    if (sort !== undefined && (sort !== 'created' || all)) {
      throw unsorted(sort, 'the deliveries of one load come oldest first: leave sort out')
    }
    return walkCargo(reader, await findCargoId(reader, carga, all), all, after)
  }
  const [only] = status
  const isOneStatus = status.length === 1 && only !== undefined && only !== REVERTED
  if (sort === 'created') return walkAll(reader, after)
  if (isOneStatus && sort !== 'host' && where === undefined && q === undefined) {
    return walkStatus(reader, only, after)
  }
  if (sort === 'updated') {
    throw unsorted(
      sort,
      'only the deliveries of one status are in that order, without role, where and q',
    )
  }
  const walk = {
    where,
    text: q?.toLowerCase(),
    isHistoryIncluded: all,
    late: late === true ? rule : undefined,
  }
  return walkHosts(reader, walk, start)
}

function unsorted(sort: string, why: string): AdminRefusal {
  return new AdminRefusal('sort_unsupported', `sort ${sort}: ${why}`)
}

async function findStart(reader: StoreReader, id: string): Promise<DeliveryWithCargo> {
  const start = await reader.findDeliveryWithCargo(id as DeliveryId)
  if (start !== undefined) return start
  throw new AdminRefusal('cursor_unknown', `after: there is no ${id} in this list`)
}

/** A removed carga is known by its id alone. */
async function findCargoId(reader: StoreReader, wanted: string, all: boolean): Promise<CargoId> {
  const removed = all ? await reader.findCargo(wanted as CargoId) : undefined
  return removed?.id ?? (await findCargo(reader, wanted)).id
}

async function keepMatching(
  reader: StoreReader,
  { all = false, carga, agente, status, late, q = '' }: Request,
  where: Selector | undefined,
  rule: LateRule,
  walked: readonly DeliveryWithCargo[],
  waiting: AdminContext['waiting'],
): Promise<AdminDelivery[]> {
  let deliveries = walked.filter(
    (delivery) => (all || isStanding(delivery)) && delivery.hostname.includes(q.toLowerCase()),
  )
  // What the walk did not select by is looked at here.
  if (agente !== undefined && carga !== undefined) {
    const id = await findCargoId(reader, carga, all)
    deliveries = deliveries.filter(({ cargoId }) => cargoId === id)
  }
  if (where !== undefined) {
    const agents = await reader.findAgents([...new Set(deliveries.map(({ agentId }) => agentId))])
    const wanted = new Set((await keepMatchingAgents(reader, where, agents)).map(({ id }) => id))
    deliveries = deliveries.filter(({ agentId }) => wanted.has(agentId))
  }
  if (late === true) {
    const ids = deliveries.map(({ id }) => id)
    const areLate = new Set(await reader.listLateDeliveries(ids, rule))
    deliveries = deliveries.filter(({ id }) => areLate.has(id))
  }
  const views = await viewDeliveries(reader, deliveries, waiting)
  return status === undefined ? views : views.filter((view) => hasStatus(view, status))
}

function hasStatus(
  { status, reverted_at: revertedAt }: AdminDelivery,
  wanted: readonly string[],
): boolean {
  return wanted.includes(status) || (revertedAt !== null && wanted.includes(REVERTED))
}
