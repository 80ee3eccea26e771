// In peace everything converges: every delivery is installed, every event has arrived, every pair is good.

import { readSeen } from './check-log.ts'
import { DATA_DIR } from './crashing-host.ts'
import type { World, WatchedHost } from './world.ts'
import { demand } from './demand.ts'
import { invariant } from '../../../src/platform/errors.ts'
import { parseCertificatesPem } from '../../../src/pki/certificates.ts'
import type { AdminDelivery } from '../../../src/protocol/admin/views.ts'

const ARRIVED: ReadonlySet<string> = new Set(['instalada', 'entregue'])
const OVER: ReadonlySet<string> = new Set(['cancelada', 'substituida'])

/** What has not come right yet; throws what never can. */
export async function findTrouble(world: World): Promise<string | undefined> {
  const { kernel, hubs, sharing, hosts, model, webhooks, revocations } = world
  for (const { place, name } of hubs) {
    if (place === undefined) return `${name} is away`
    await model.follow(place.hub.store.reader)
  }
  const running = hubs[0]?.place?.hub
  invariant(running !== undefined, 'each hub is up')
  const sharedTrouble = sharing?.findTrouble(hubs)
  if (sharedTrouble !== undefined) return sharedTrouble
  const [open] = await running.store.reader.rollouts.listOpen()
  if (open !== undefined) return `rollout ${open.id} is ${open.state}: ${open.reason ?? ''}`
  const { entregas } = await running.admin.listDeliveries({})
  for (const { id, tipo, status, hostname } of entregas) {
    if (!ARRIVED.has(status) && !OVER.has(status)) return `${hostname}: ${tipo} ${id} is ${status}`
  }
  const origin = (await running.store.reader.findLogTree())?.origin
  for (const watched of hosts) {
    const trouble =
      findHostTrouble(world, watched, entregas) ??
      findRootTrouble(watched, hubs) ??
      findWitnessTrouble(watched, origin)
    if (trouble !== undefined) return `${watched.host.hostname}: ${trouble}`
    checkEvents(world, watched, entregas)
  }
  const sealedTrouble = await findSealedTrouble(world, entregas)
  if (sealedTrouble !== undefined) return sealedTrouble
  const now = kernel.now()
  return webhooks.findTrouble(now) ?? revocations.findTrouble(now)
}

function findHostTrouble(
  { model, kernel }: World,
  { host, watch }: WatchedHost,
  deliveries: readonly AdminDelivery[],
): string | undefined {
  if (model.isRevokedHost(host.hostname)) return 'it is revoked'
  if (!host.isRunning) return 'no agent runs'
  // Nothing that happens to an honest hub makes a witness raise the alarm.
  const alarms = watch.readText(`${DATA_DIR}/state/log-alarms.json`)
  demand(alarms === undefined, '[CHN-24] an alarm about an honest log:', alarms ?? '')
  if (host.problems.length > 0) return host.problems.join('; ')
  if (host.eventsWaiting > 0) return `${host.eventsWaiting} events wait`
  const now = kernel.now()
  const identity = watch.readLeaf(`${DATA_DIR}/identity/agent.crt`)
  if (identity === undefined || identity.notAfter <= now) return 'it has no identity'
  if (model.admissionOf(identity.serial, now.getTime()) === 'no') return 'its identity is no good'
  const standing = deliveries.filter(
    ({ hostname, status }) => hostname === host.hostname && status === 'instalada',
  )
  for (const { nome } of standing) {
    const leaf = watch.readLeaf(`${DATA_DIR}/out/${nome}.crt`)
    if (leaf === undefined || leaf.notAfter <= now) return `${nome} is not there`
    if (!host.hooked.has(leaf.serial)) return `the hook of ${nome} has not run`
  }
  return undefined
}

/** What was sealed last is what its hosts have open. */
async function findSealedTrouble(
  { hubs, hosts, sealed }: World,
  deliveries: readonly AdminDelivery[],
): Promise<string | undefined> {
  for (const { status, tipo, carga_id: carga, nome, hostname } of deliveries) {
    if (tipo !== 'selado' || OVER.has(status)) continue
    const content = await hubs[0]?.place?.hub.admin.readContent({ carga })
    const watched = hosts.find(({ host }) => host.hostname === hostname)
    const text = watched?.watch.readText(`${DATA_DIR}/out/${nome}`)
    if (text === undefined || text !== sealed.textOf(content?.sha256 ?? '')) {
      return `${hostname}: ${nome} is not what was sealed last`
    }
  }
  return undefined
}

/** [TRU-5] [TRU-8] */
function findRootTrouble({ watch }: WatchedHost, hubs: World['hubs']): string | undefined {
  const trusted = watch.readCertificates(`${DATA_DIR}/identity/ca.pem`)
  for (const { place, name } of hubs) {
    const inForce = parseCertificatesPem(place?.hub.rootPem() ?? '')
    const isSame =
      trusted.length === inForce.length &&
      inForce.every(({ sha256 }) => trusted.some((root) => root.sha256 === sha256))
    if (!isSame) return `it trusts other roots than are in force at ${name}`
  }
  return undefined
}

/** [CHN-25] */
function findWitnessTrouble(
  { watch }: WatchedHost,
  origin: string | undefined,
): string | undefined {
  const seen = readSeen(watch)
  const isBehind = seen !== undefined && seen.origin !== origin
  return isBehind ? 'it knows the log of an earlier epoch' : undefined
}

/** [AGT-28] Each event that was made durable is in the log, in its order, or it was about a delivery that is over. */
function checkEvents(
  { model }: World,
  { host, watch }: WatchedHost,
  deliveries: readonly AdminDelivery[],
): void {
  const { hostname } = host
  const setAside = new Set(watch.setAside())
  for (const { requestId, deliveryId } of watch.promised.values()) {
    const delivery = deliveries.find(({ id }) => id === deliveryId)
    // A restored hub knows nothing of a delivery that is newer than the backup.
    const isOver = delivery === undefined ? model.restores > 0 : OVER.has(delivery.status)
    const isKept =
      model.hasEvent(hostname, requestId) ||
      model.wasLost(hostname, requestId) ||
      (setAside.has(requestId) && isOver)
    demand(isKept, '[AGT-28] an event is lost:', `${hostname} ${requestId}`)
  }
  let last = 0
  for (const requestId of model.eventsOf(hostname)) {
    const order = watch.promised.get(requestId)?.order
    if (order === undefined) continue
    demand(order > last, '[AGT-28] events out of order:', `${hostname} ${requestId}`)
    last = order
  }
}
