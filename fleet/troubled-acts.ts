// What operators did, by the hub's own use cases and by a clock that is set: months ago, before there were hosts, and in the evening of
// trouble.

import { recordUnbounded } from '../test/support/unbounded-events.ts'
import { appendEntries } from '../src/hub/service/append-entries.ts'
import { createFleetChanges } from '../src/hub/service/cargo/fleet-changes.ts'
import { createAdminOperations } from '../src/hub/service/admin/admin-operations.ts'
import { createRolloutKeeper, LOOK_MS } from '../src/hub/service/rollout/rollout-keeper.ts'
import type { NewAuditEntry } from '../src/hub/domain/audit-entry.ts'
import type { DeliveryWithCargo, Store } from '../src/hub/store/store.ts'
import type { Clock } from '../src/platform/clock.ts'
import { invariant } from '../src/platform/errors.ts'
import { createLogging } from '../src/platform/logger.ts'
import type { AdminOperations } from '../src/protocol/admin/operations.ts'
import type { CargoId } from '../src/protocol/identifiers.ts'
import { EventType, HubEventType } from '../src/protocol/words.ts'
import { hostileText } from './hostile-texts.ts'
import { FROZEN_ROLLOUT, ROLLED_OUT } from './troubled-cargoes.ts'
import type { TroubledFleet } from './troubled-plan.ts'

const MINUTE_MS = 60_000
const DAY_S = 86_400
/** The evening of trouble begins so long before now. */
export const EVENING_MS: number = 4 * 60 * MINUTE_MS

/** Its receiver is down. */
export const PAGER_URL = 'https://pager.example.com/hooks/cartorio'
const HOSTILE_URL = 'https://evil.example/%3Cscript%3Ealert(1)%3C/script%3E?q=%22%3E%3Cimg'

interface SetClock extends Clock {
  set(atMs: number): void
}

export function createSetClock(atMs: number): SetClock {
  let now = new Date(atMs)
  return {
    now: () => now,
    sleep: () => Promise.resolve(),
    set: (nextMs) => {
      // An entry is never before the one that it follows.
      if (nextMs > now.getTime()) now = new Date(nextMs)
    },
  }
}

function operatorsOf(store: Store, clock: Clock) {
  const changes = createFleetChanges(store)
  const hub = {
    store,
    clock,
    changes,
    addresses: { enrollUrl: 'https://localhost:8444', mtlsUrl: 'https://localhost:8443' },
    hubNames: ['localhost'],
    contentBytesMax: 65_536,
    renewalThresholdMs: 0,
  }
  const as = (actor: 'admin' | `token:${string}`): AdminOperations =>
    createAdminOperations(hub, actor, 'admin')
  return { as, changes }
}

/** Before there were hosts. */
export async function actMonthsAgo(
  store: Store,
  { isHostile }: TroubledFleet,
  clock: SetClock,
): Promise<void> {
  const { as } = operatorsOf(store, clock)
  const admin = as('admin')
  const after = (minutes: number): void => clock.set(clock.now().getTime() + minutes * MINUTE_MS)
  for (const [name, role, days] of [
    ['oncall', 'admin', 300],
    ['deploy', 'operator', 180],
    ['grafana', 'viewer', 365],
    ['auditor', 'viewer', 120],
    ['old-pipeline', 'operator', 30],
  ] as const) {
    await admin.createAccessToken({ name, role, ttl_seconds: days * DAY_S })
    after(3)
  }
  await admin.createAccessToken({
    name: 'left-the-team',
    role: 'operator',
    ttl_seconds: 90 * DAY_S,
  })
  after(60)
  await admin.revokeAccessToken({ token: 'left-the-team' })
  const oncall = as('token:oncall')
  for (const [name, pattern] of [
    ['autoscaling-web', 'web-*.sao.example.org'],
    ['batch-nodes', 'batch-*.rec.example.org'],
  ] as const) {
    after(5)
    await oncall.createJoinRule({
      name,
      method: 'token',
      role: name.includes('web') ? 'web' : 'batch',
      pattern,
      hosts_max: 200,
      ttl_seconds: 89 * DAY_S,
    })
  }
  for (const [role, sans] of [
    ['web', ['www.example.org', 'shop.example.org', 'shop.example.net']],
    ['api', ['api.example.org']],
    ['edge', ['cdn.example.org']],
    ['db', []],
    ['batch', []],
  ] as const) {
    after(5)
    await oncall.setPolicy({
      role,
      sans_permitidos: [...sans],
      token_ttl_max: 4 * 3600,
      ...(role === 'batch' && { cert_ttl: 8 * 3600 }),
      untested: true,
    })
  }
  after(5)
  await oncall.setSelectorPolicy({
    nome: 'staging-is-short',
    where: 'env=staging',
    cert_ttl: 12 * 3600,
    untested: true,
  })
  for (const [url, tipos] of [
    [PAGER_URL, []],
    // Nothing of that kind happens here.
    ['https://siem.example.org/ingest', [HubEventType.vaultRestored]],
    ...(isHostile ? [[HOSTILE_URL, [HubEventType.vaultRestored]] as const] : []),
  ] as const) {
    after(5)
    await oncall.createWebhook({ url, tipos: [...tipos] })
  }
}

/** A night of trouble; what hosts said meanwhile comes between the acts. */
export async function actThroughTheEvening(
  store: Store,
  fleet: TroubledFleet,
  { clock, said }: { readonly clock: SetClock; readonly said: readonly NewAuditEntry[] },
): Promise<void> {
  const { nowMs, isHostile } = fleet
  const { as, changes } = operatorsOf(store, clock)
  const log = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('seed')
  const keeper = createRolloutKeeper({ store, changes, clock, log })
  const [deploy, oncall] = [as('token:deploy'), as('token:oncall')]
  const waiting = [...said]
  const sayUntil = async (atMs: number): Promise<void> => {
    const count = waiting.findIndex(({ at }) => at.getTime() > atMs)
    const entries = waiting.splice(0, count === -1 ? waiting.length : count)
    for (let from = 0; from < entries.length; from += 500) {
      await store.write((writer) => appendEntries(writer, entries.slice(from, from + 500)))
    }
    clock.set(atMs)
  }
  const before = (minutes: number): Promise<void> => sayUntil(nowMs - minutes * MINUTE_MS)
  const keep = async (): Promise<void> => {
    while (await keeper.look());
  }
  const answer = createAnswers(store, clock)
  /** The keeper counts the time between two of its looks, so it has to look as often as it does in a hub. */
  const soak = async (minutesBefore: number, minutes: number): Promise<void> => {
    for (let passedMs = 0; passedMs <= minutes * MINUTE_MS; passedMs += LOOK_MS) {
      await sayUntil(nowMs - minutesBefore * MINUTE_MS + passedMs)
      await keep()
    }
  }

  await before(238)
  const rules = { soak_seconds: 120, late_seconds: 12 * 3600 }
  await deploy.startRollout({
    carga: ROLLED_OUT,
    sans: ['www.example.org', 'shop.example.org', 'shop.example.net'],
    waves: ['1%', '50%', '100%'],
    max_failed: '5%',
    ...rules,
  })
  await keep()
  await before(236)
  await answer(ROLLED_OUT, () => undefined)
  await soak(234, 3)
  await before(188)
  await oncall.setPolicy({ role: 'web', sans_permitidos: ['www.example.org', 'shop.example.org'] })
  await before(185)
  await answer(ROLLED_OUT, (at, count) => {
    if (at < 3) return 'csr_cn_mismatch'
    return at < 3 + Math.ceil(count * 0.11) ? WAITS : undefined
  })
  await before(150)
  await deploy.startRollout({
    carga: FROZEN_ROLLOUT,
    waves: ['2', '20%', '100%'],
    max_failed: '0',
    ...rules,
  })
  await keep()
  await before(147)
  await answer(FROZEN_ROLLOUT, (at) =>
    at === 0 ? 'hook post-csr-cert: exit 1: nginx: configuration file test failed' : undefined,
  )
  await keep()
  await before(120)
  await oncall.setFreeze({
    until: new Date(nowMs + 9 * 3_600_000).toISOString(),
    why: isHostile
      ? hostileText(1)
      : 'web refuses shop.example.net: nobody rolls out until it is understood',
  })
  await before(90)
  for (const hostname of [
    'web-90001.sao.example.org',
    'db-90002.poa.example.org',
    'log-90003.bsb.example.org',
  ]) {
    await deploy.createToken({
      hostname,
      role: hostname.split('-', 1)[0] ?? 'web',
      ttl_seconds: 4 * 3600,
    })
  }
  await before(0)
}

const WAITS = Symbol('it has not answered yet')

/** Undefined: it is installed. */
type Outcome = (at: number, count: number) => string | typeof WAITS | undefined

/** What the hosts say of the deliveries of a rollout that are given to them: a reason for one that failed. */
function createAnswers(store: Store, clock: Clock) {
  const recordEvent = recordUnbounded(store, clock)
  return async (cargoName: string, outcomeOf: Outcome): Promise<void> => {
    const [cargo] = await store.reader.listCargoesNamed(cargoName, 1)
    invariant(cargo !== undefined, 'the carga of a rollout is there')
    const given = await listPending(store, cargo.id)
    for (const [at, { id, agentId }] of given.entries()) {
      const outcome = outcomeOf(at, given.length)
      if (outcome === WAITS) continue
      const agent = await store.reader.findAgentById(agentId)
      invariant(agent !== undefined, 'a delivery is of an agent')
      const event =
        outcome === undefined
          ? {
              tipo_evento: EventType.deliveryInstalled,
              payload: { carga_nome: cargoName, versao: cargo.version + 1 },
            }
          : { tipo_evento: EventType.deliveryFailed, payload: { erro: outcome } }
      await recordEvent(agent, { ...event, entrega_id: id })
    }
  }
}

async function listPending(store: Store, cargoId: CargoId): Promise<DeliveryWithCargo[]> {
  const pending: DeliveryWithCargo[] = []
  for (let after: number | undefined; ;) {
    const step = await store.reader.listCargoDeliveries(cargoId, { after, limit: 1000 })
    pending.push(...step.deliveries.filter(({ status }) => status === 'pendente'))
    if (step.next === null) return pending
    after = step.next
  }
}
