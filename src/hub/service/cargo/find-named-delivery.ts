import type { DeliveryId } from '../../../protocol/identifiers.ts'
import { type Delivery, isStanding } from '../../domain/delivery.ts'
import type { DeliveryWithCargo, StoreReader } from '../../store/store.ts'
import { AdminRefusal } from '../admin-act.ts'
import { CANDIDATES_MAX } from './find-cargo.ts'
import { listStandingDeliveries } from './replace-delivery.ts'

/**
 * By id; or a present one by `<hostname>/<nome>`, or by `<nome>` alone, while that names one. docs/protocol.md API-62. Throws an
 * AdminRefusal that names the candidates when there are several.
 */
export async function findNamedDelivery(reader: StoreReader, wanted: string): Promise<Delivery> {
  const delivery = await reader.findDelivery(wanted as DeliveryId)
  if (delivery !== undefined) return delivery
  const slash = wanted.indexOf('/')
  const found =
    slash === -1
      ? await listOfName(reader, wanted)
      : await listOfHost(reader, wanted.slice(0, slash), wanted.slice(slash + 1))
  const [first, second] = found
  if (first === undefined) throw new AdminRefusal('delivery_not_found', `no delivery ${wanted}`)
  if (second === undefined) return first
  const names = found
    .slice(0, CANDIDATES_MAX)
    .map(({ hostname, cargo, id }) => `${hostname}/${cargo.name} (${cargo.kind}, ${id})`)
  const more = found.length > CANDIDATES_MAX ? ', and more' : ''
  throw new AdminRefusal(
    'delivery_ambiguous',
    `more than one delivery is named ${wanted}: ${names.join(', ')}${more}`,
  )
}

async function listOfHost(
  reader: StoreReader,
  hostname: string,
  name: string,
): Promise<DeliveryWithCargo[]> {
  const agent = await reader.findAgentByHostname(hostname)
  if (agent === undefined) return []
  const standing = await listStandingDeliveries(reader, { agentId: agent.id })
  return standing.filter(({ cargo }) => cargo.name === name)
}

/** Looks at a few entregas of a few cargas: more than one is too many already. */
async function listOfName(reader: StoreReader, name: string): Promise<DeliveryWithCargo[]> {
  const limit = CANDIDATES_MAX + 1
  const found: DeliveryWithCargo[] = []
  for (const { id } of await reader.listCargoesNamed(name, limit)) {
    for (let after: DeliveryId | null | undefined; after !== null && found.length < limit;) {
      const page = { limit: 50, ...(after !== undefined && { after }) }
      const { deliveries, next } = await reader.pageCargoDeliveries(id, page)
      found.push(...deliveries.filter(isStanding))
      after = next
    }
  }
  return found
}
