// The certificates that are in use, and which of them are late, against a model in a few lines and the domain's rule.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { propertyRuns } from '../../../../test/support/property.ts'
import { countLosing } from '../../service/admin/summary/count-losing.ts'
import { CERTIFICATE_STATES } from '../../../protocol/admin/certificados.ts'
import { Secret } from '../../../platform/secret.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Delivery } from '../../domain/delivery.ts'
import { LIVE_STATUSES } from '../../domain/delivery.ts'
import { type CertificateInUse, ENDING_WITHIN } from '../../domain/fleet.ts'
import type { IssuedCertificate } from '../../domain/issued-certificate.ts'
import { QUARTER_MS } from '../../domain/fleet-ends.ts'
import {
  decideState,
  isLate,
  lateFrom,
  renewalWindowMs,
  stateOfCertificate,
} from '../../domain/late-renewal.ts'
import {
  insertAgent,
  insertCargo,
  insertDelivery,
  LATER,
  newCertificate,
  NOW,
} from '../../../../test/store/store-samples.ts'
import type { LateRule, Store } from '../store.ts'
import { openSqliteStore } from './sqlite-store.ts'

type Change = readonly [kind: string, which: number, value: number]

const AGENTS = 3
const STATUSES = [...LIVE_STATUSES, 'cancelada', 'substituida'] as const
const changes: fc.Arbitrary<Change[]> = fc.array(
  fc.tuple(
    fc.constantFrom('identity', 'delivered', 'use', 'turn', 'status', 'revoke', 'enrol', 'remove'),
    fc.nat({ max: 20 }),
    fc.nat({ max: 1000 }),
  ),
  { maxLength: 40 },
)
const hours = (count: number): number => count * 3_600_000

class Model {
  readonly #store: Store
  readonly agents: Agent[] = []
  readonly deliveries: Delivery[] = []
  readonly certificates: IssuedCertificate[] = []

  constructor(store: Store) {
    this.#store = store
  }

  async fill(): Promise<void> {
    for (let index = 0; index < AGENTS; index += 1) {
      const agent = await insertAgent(this.#store, `h-${index}`)
      this.agents.push(agent)
      for (const name of ['site', 'mail']) {
        const cargo = await insertCargo(this.#store, name)
        this.deliveries.push(await insertDelivery(this.#store, agent.id, cargo))
      }
    }
  }

  /** Whatever comes, in any order, also what the services would never do. */
  async apply([kind, which, value]: Change): Promise<void> {
    const at = which % AGENTS
    const agent = this.agents[at]
    const delivery = this.deliveries[which % this.deliveries.length]
    const certificate = this.certificates[which % Math.max(1, this.certificates.length)]
    if (agent === undefined || delivery === undefined) return
    await this.#store.write(async (writer) => {
      if (kind === 'identity' || kind === 'delivered') {
        const isIdentity = kind === 'identity'
        const issued = {
          ...newCertificate(isIdentity ? agent.id : delivery.agentId),
          // Before any end.
          notBefore: new Date(NOW.getTime() - 5_000_001 - value * 60_000),
          notAfter: new Date(NOW.getTime() + (value % 17) * 1_700_003 - 5_000_000),
          ...(isIdentity ? {} : { purpose: 'delivery' as const, deliveryId: delivery.id }),
        }
        this.certificates.push(await writer.insertCertificate(issued))
      } else if (kind === 'use' && certificate !== undefined) {
        await writer.setCertificateFirstUsed(certificate.sha256, LATER)
        this.#change(certificate, { firstUsedAt: LATER })
      } else if (kind === 'turn' && certificate !== undefined) {
        const own = this.deliveries.find(({ agentId }) => agentId === certificate.agentId)
        if (own === undefined) return
        await writer.setCertificateDelivered(certificate.sha256, own.id)
        this.#change(certificate, { purpose: 'delivery', deliveryId: own.id })
      } else if (kind === 'status') {
        const status = STATUSES[value % STATUSES.length] ?? 'pendente'
        await writer.setDeliveryStatus(delivery.id, status, NOW, null)
        this.deliveries[which % this.deliveries.length] = { ...delivery, status }
      } else if (kind === 'revoke') {
        const revoked = { ...agent, revokedAt: NOW }
        await writer.updateAgent(revoked)
        await writer.revokeCertificates(agent.id, NOW)
        this.agents[at] = revoked
        for (const own of this.certificates.filter(({ agentId }) => agentId === agent.id)) {
          this.#change(own, { revokedAt: NOW })
        }
      } else if (kind === 'enrol' || kind === 'remove') {
        const changed = { ...agent, revokedAt: null, removedAt: kind === 'enrol' ? null : NOW }
        await writer.updateAgent(changed)
        this.agents[at] = changed
      }
    })
  }

  inUse(): IssuedCertificate[] {
    const live = this.agents.filter(({ revokedAt, removedAt }) => !revokedAt && !removedAt)
    const valid = this.certificates.filter(({ revokedAt }) => revokedAt === null)
    const identities = live.map(({ id }) => {
      const own = valid.filter(({ agentId, purpose }) => agentId === id && purpose === 'identity')
      return own.findLast(({ firstUsedAt }) => firstUsedAt !== null) ?? own[0]
    })
    const delivered = this.deliveries
      .filter(({ status }) => status === 'instalada' || status === 'entregue')
      .filter(({ agentId }) => live.some(({ id }) => id === agentId))
      .map(({ id }) => valid.findLast(({ deliveryId }) => deliveryId === id))
    return [...identities, ...delivered].filter((found) => found !== undefined)
  }

  #change(certificate: IssuedCertificate, changed: Partial<IssuedCertificate>): void {
    const index = this.certificates.findIndex(({ seq }) => seq === certificate.seq)
    const current = this.certificates[index]
    if (current !== undefined) this.certificates[index] = { ...current, ...changed }
  }
}

test('[MET-11] [MET-12] what is in use and what is late is what the rules say, whatever happened', async () => {
  const thresholds = fc.constantFrom(0, 1_000_001, hours(6))
  await fc.assert(
    fc.asyncProperty(changes, thresholds, fc.nat({ max: 9 }), async (all, thresholdMs, hour) => {
      const directory = await mkdtemp(join(tmpdir(), 'fleet-'))
      const store = await openSqliteStore({
        path: join(directory, 'db.enc'),
        dataKey: new Secret(randomBytes(32)),
        createIfMissing: true,
      })
      try {
        const model = new Model(store)
        await model.fill()
        for (const change of all) await model.apply(change)
        await assertSame(store, model, thresholdMs, new Date(NOW.getTime() + hours(hour / 3)))
      } finally {
        await store.close()
        await rm(directory, { recursive: true })
      }
    }),
    propertyRuns(25),
  )
})

async function assertSame(
  store: Store,
  model: Model,
  thresholdMs: number,
  now: Date,
): Promise<void> {
  const inUse = model.inUse()
  const rule = { now, thresholdMs }
  const late = inUse.filter((one) => isLate(one, now, thresholdMs))
  const since = new Date(now.getTime() - hours(1))
  const newlyLate = late.filter((one) => lateFrom(one, thresholdMs) > since)
  const { reader } = store
  assert.deepEqual(keysOf(await reader.listLateCertificates({ ...rule, limit: 99 })), keysOf(late))
  assert.deepEqual(
    keysOf(await reader.listLateCertificates({ ...rule, since, limit: 99 })),
    keysOf(newlyLate),
  )
  const allAgents = ((await reader.pageAgents({ limit: 99 })) ?? []).map(({ id }) => id)
  const lateAgents = new Set(late.map(({ agentId }) => agentId))
  const found = await reader.listLateAgents(allAgents, rule)
  assert.deepEqual([...found.keys()].sort(), [...lateAgents].sort())
  const alive = inUse.filter(({ notAfter }) => notAfter > now)
  assert.deepEqual(keysOf(await reader.listFirstToEnd(now, 99)), keysOf(alive))

  for (const state of CERTIFICATE_STATES) {
    const own = inUse.filter((one) => stateOfCertificate(one, now, thresholdMs) === state)
    const listed = await reader.pageCertificatesInUse({ ...rule, state, limit: 99 })
    assert.deepEqual(keysOf(listed ?? []), keysOf(own), state)
    assert.equal(await reader.countCertificatesInUse({ ...rule, state }, 99), own.length, state)
  }
  assert.equal(await reader.countCertificatesInUse(rule, 99), inUse.length)

  const untils = [-2, 0, 0.1, 1, 24, 999].map((hour) => new Date(now.getTime() + hours(hour)))
  const counts = untils.map((end) => {
    const losing = alive.filter(({ notAfter }) => notAfter <= end)
    return new Set(losing.map(({ agentId }) => agentId)).size
  })
  assert.deepEqual(await countLosing(reader, now, untils), counts)

  const { agents, certificates, deliveries, oldestWaitingSince } = await reader.summariseFleet(rule)
  const present = model.agents.filter(({ removedAt }) => removedAt === null)
  const revoked = present.filter(({ revokedAt }) => revokedAt !== null).length
  assert.deepEqual(agents, {
    registered: present.length - revoked - lateAgents.size,
    late: lateAgents.size,
    revoked,
  })
  for (const purpose of ['identity', 'delivery'] as const) {
    const own = inUse.filter((one) => one.purpose === purpose)
    const living = own.filter(({ notAfter }) => notAfter > now)
    const ends = living.map(({ notAfter }) => notAfter.getTime())
    assert.deepEqual(certificates[purpose], {
      valid: living.filter((one) => !isLate(one, now, thresholdMs)).length,
      late: living.filter((one) => isLate(one, now, thresholdMs)).length,
      expired: own.length - living.length,
      firstNotAfter: ends.length === 0 ? undefined : new Date(Math.min(...ends)),
      endingWithin: Object.fromEntries(
        Object.entries(ENDING_WITHIN).map(([name, seconds]) => [
          name,
          ends.filter((end) => end <= now.getTime() + seconds * 1000).length,
        ]),
      ),
    })
  }
  await assertSameSummary(store, inUse, rule)
  for (const status of LIVE_STATUSES) {
    const count = model.deliveries.filter((delivery) => delivery.status === status).length
    assert.equal(deliveries[status], count)
  }
  const isWaiting = deliveries.pendente + deliveries.em_andamento > 0
  assert.deepEqual(oldestWaitingSince, isWaiting ? NOW : undefined)
}

async function assertSameSummary(
  { reader: { summary } }: Store,
  inUse: readonly IssuedCertificate[],
  rule: LateRule,
): Promise<void> {
  const { now, thresholdMs } = rule
  const nowMs = now.getTime()
  const counts = await summary.countEnds(rule, { until: new Date(nowMs + hours(9999)) })
  // Who lives three thresholds and a minute is renewed a threshold before the end, however long it lives.
  const wholeMinutes = Math.ceil((3 * thresholdMs) / 60_000) + 1
  const keyed = inUse.map(({ notBefore, notAfter }) => {
    const [startMs, notAfterMs] = [notBefore.getTime(), notAfter.getTime()]
    const windowMs = renewalWindowMs(notAfterMs - startMs, thresholdMs)
    const state = decideState({ notAfterMs, windowMs }, nowMs)
    const quarter = Math.floor(notAfterMs / QUARTER_MS) * QUARTER_MS
    const lifeMinutes = Math.trunc((notAfterMs - startMs) / 60_000)
    return `${quarter} ${Math.min(lifeMinutes, wholeMinutes)} ${state}`
  })
  assert.deepEqual(
    counts
      .flatMap(({ quarterMs, lifeMinutes, state, count }) =>
        Array.from({ length: count }, () => `${quarterMs} ${lifeMinutes} ${state}`),
      )
      .sort(),
    keyed.sort(),
  )
  const endOf = new Map<string, number>()
  for (const { agentId, notAfter } of inUse) {
    endOf.set(agentId, Math.min(endOf.get(agentId) ?? Infinity, notAfter.getTime()))
  }
  const isEnding = (end: number): boolean => end <= nowMs
  assert.equal(await summary.countAgentsEnding(now), [...endOf.values()].filter(isEnding).length)
  const expired = inUse.filter(({ notAfter }) => notAfter <= now)
  assert.deepEqual(keysOf(await summary.listExpired(now, 99)), keysOf(expired))
  const late = inUse.filter((one) => isLate(one, now, thresholdMs))
  assert.deepEqual(
    keysOf(await summary.listLateInTime(rule, 99)),
    keysOf(late.filter(({ agentId }) => (endOf.get(agentId) ?? 0) > nowMs)),
  )
  const lateAgents = new Set<string>(late.map(({ agentId }) => agentId))
  const onTime = [...endOf].flatMap(([id, end]) => (lateAgents.has(id) ? [] : [end]))
  const first = Math.min(...onTime.filter((end) => end > nowMs))
  const found = await summary.findFirstOnTime(rule)
  assert.equal(found?.notAfter.getTime() ?? Infinity, first)
  const untils = [0.1, 1, 24, 999].map((hour) => new Date(nowMs + hours(hour)))
  assert.deepEqual(
    await summary.countOnTimeEnding(rule, untils),
    untils.map((until) => onTime.filter((end) => end <= until.getTime()).length),
  )
}

type Key = Pick<CertificateInUse, 'agentId' | 'deliveryId' | 'notAfter' | 'notBefore'>

function keysOf(certificates: readonly Key[]): string[] {
  return certificates
    .map((one) =>
      [one.agentId, one.deliveryId, one.notBefore.getTime(), one.notAfter.getTime()].join(' '),
    )
    .sort()
}
