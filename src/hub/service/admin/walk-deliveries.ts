// The ways to entregas, each by an index and in its order. A walk looks at a bounded number at a time, whatever matches.

import type { AgentId, CargoId } from '../../../protocol/identifiers.ts'
import type { Selector } from '../../../protocol/selector.ts'
import type { DeliveryStatus } from '../../../protocol/words.ts'
import type {
  DeliveryPage,
  DeliveryWithCargo,
  LateRule,
  Page,
  StoreReader,
} from '../../store/store.ts'
import { agentSlices } from '../agent-slices.ts'

export type Walk = AsyncGenerator<readonly DeliveryWithCargo[]>

const STEP_DELIVERIES = 500
const STEP_HOSTS = 200

export interface HostWalk {
  /** Undefined for every host. */
  readonly where: Selector | undefined
  /** A part of their hostnames. */
  readonly text: string | undefined
  /** Also what is over. */
  readonly isHistoryIncluded: boolean
  /** Only hosts with a certificate that is late. */
  readonly late: LateRule | undefined
}

/** By hostname, of each host by name. `after` is the last entrega before. */
export async function* walkHosts(
  reader: StoreReader,
  { where, text, isHistoryIncluded, late }: HostWalk,
  after: DeliveryWithCargo | undefined,
): Walk {
  const of = (ids: readonly AgentId[]) =>
    isHistoryIncluded ? listHistory(reader, ids) : reader.listLiveDeliveries(ids)
  if (after !== undefined) {
    const rest = sortByName(await of([after.agentId]))
    yield rest.filter((delivery) => compare(delivery, after) > 0)
  }
  const walk = { where, text, after: after?.agentId, sliceAgents: STEP_HOSTS }
  for await (const hosts of agentSlices(reader, walk)) {
    const ids = hosts.map(({ id }) => id)
    const wanted = late === undefined ? ids : [...(await reader.listLateAgents(ids, late)).keys()]
    yield sortByName(await of(wanted))
  }
}

export async function* walkAgent(
  reader: StoreReader,
  agentId: AgentId,
  after: DeliveryWithCargo | undefined,
): Walk {
  const deliveries = sortByName(await reader.listDeliveries({ agentId }))
  yield after === undefined ? deliveries : deliveries.filter((found) => compare(found, after) > 0)
}

/** Oldest first; with what is over, by agent. */
export function walkCargo(
  reader: StoreReader,
  id: CargoId,
  isHistoryIncluded: boolean,
  after: string | undefined,
): Walk {
  return walkPages(
    (page) =>
      isHistoryIncluded ? reader.pageCargoHistory(id, page) : reader.pageCargoDeliveries(id, page),
    after,
  )
}

export function walkStatus(
  reader: StoreReader,
  status: DeliveryStatus,
  after: string | undefined,
): Walk {
  return walkPages((page) => reader.pageStatusDeliveries(status, page), after)
}

/** Oldest first. */
export function walkAll(reader: StoreReader, after: string | undefined): Walk {
  return walkPages(async (page) => {
    const deliveries = (await reader.pageDeliveries(page)) ?? []
    const next = deliveries.length < page.limit ? null : (deliveries.at(-1)?.id ?? null)
    return { deliveries, next }
  }, after)
}

async function* walkPages(
  read: (page: Page) => Promise<DeliveryPage>,
  start: string | undefined,
): Walk {
  for (let after = start; ;) {
    const { deliveries, next } = await read({ after, limit: STEP_DELIVERIES })
    yield deliveries
    if (next === null) return
    after = next
  }
}

async function listHistory(
  reader: StoreReader,
  ids: readonly AgentId[],
): Promise<DeliveryWithCargo[]> {
  const lists = await Promise.all(ids.map((agentId) => reader.listDeliveries({ agentId })))
  return lists.flat()
}

function sortByName(deliveries: readonly DeliveryWithCargo[]): DeliveryWithCargo[] {
  return deliveries.toSorted(compare)
}

/** Ids sort by time. Not by locale: hostnames come from the index in the order of their bytes. */
function compare(one: DeliveryWithCargo, other: DeliveryWithCargo): number {
  const keysOf = ({ hostname, cargo, id }: DeliveryWithCargo) => [hostname, cargo.name, id] as const
  const [some, others] = [keysOf(one), keysOf(other)]
  const at = some.findIndex((key, index) => key !== others[index])
  if (at === -1) return 0
  return (some[at] ?? '') < (others[at] ?? '') ? -1 : 1
}
