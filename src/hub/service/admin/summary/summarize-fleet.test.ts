import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Check } from 'typebox/value'
import {
  insertAgent,
  insertCargo,
  insertDelivery,
  insertToken,
  append,
  newAgent,
  newCertificate,
  NOW,
} from '../../../../../test/store/store-samples.ts'
import { createSampleRoot } from '../../../../../test/support/sample-roots.ts'
import { openTemporaryStore } from '../../../../../test/support/temporary-store.ts'
import type { AdminFleetSummary } from '../../../../protocol/admin/fleet-summary.ts'
import { AdminFleetSummary as Schema } from '../../../../protocol/admin/fleet-summary.ts'
import { ADMIN_OPERATIONS } from '../../../../protocol/admin/operations.ts'
import type { DeliveryId } from '../../../../protocol/identifiers.ts'
import type { Agent } from '../../../domain/agent.ts'
import { hashToken } from '../../../domain/hash-token.ts'
import { NO_SAMPLE } from '../../../domain/hub-samples.ts'
import type { Store, StoreReader } from '../../../store/store.ts'
import { createWaitingReasons } from '../../waiting-reasons.ts'
import type { AdminHub } from '../admin-context.ts'
import { createAdminOperations } from '../admin-operations.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

describe('[OVW-1] a fleet in one reply', () => {
  let store: Store & AsyncDisposable
  let hub: AdminHub
  const agents: Record<string, Agent> = {}
  let nowMs = NOW.getTime()
  let asked = 0
  const waiting = createWaitingReasons()
  let pending: DeliveryId

  const giveIdentity = async (hostname: string, hours: number): Promise<void> => {
    const agent = agents[hostname] ?? (await insertAgent(store, hostname))
    agents[hostname] = agent
    const notAfterMs = NOW.getTime() + hours * HOUR_MS
    await store.write((writer) =>
      writer.insertCertificate({
        ...newCertificate(agent.id),
        notBefore: new Date(notAfterMs - DAY_MS),
        notAfter: new Date(notAfterMs),
      }),
    )
  }

  before(async () => {
    store = await openTemporaryStore()
    for (const [hostname, hours] of [
      ['fresh-1', 20],
      ['fresh-2', 30],
      ['renewing', 5],
      ['late-1', 2],
      ['late-2', 1],
      ['expired', -1],
      ['revoked', 20],
    ] as const) {
      await giveIdentity(hostname, hours)
    }
    await store.write(async (writer) => {
      const { revoked } = agents
      if (revoked === undefined) return
      await writer.updateAgent({ ...revoked, revokedAt: NOW })
      await writer.revokeCertificates(revoked.id, NOW)
    })
    const cargo = await insertCargo(store, 'site')
    const late = agents['late-1'] as Agent
    const failing = ['fresh-1', 'fresh-2'].map((name) => agents[name] as Agent)
    for (const { id } of failing) {
      const { id: failed } = await insertDelivery(store, id, cargo)
      await store.write((writer) => writer.setDeliveryStatus(failed, 'falhou', NOW, 'disk full'))
    }
    ;({ id: pending } = await insertDelivery(store, late.id, cargo))
    waiting.note(pending, 'ca_failed: too long', new Date(NOW.getTime() - 60_000))
    const root = await createSampleRoot('Root', new Date(NOW.getTime() + DAY_MS))
    await store.write(async (writer) => {
      await writer.insertRootSet({ epoch: 1, number: 3, pem: root.pem, createdAt: NOW })
      const said = { number: 3, pinned: null, error: null, reportedAt: NOW }
      for (const name of ['fresh-1', 'fresh-2', 'revoked']) {
        const { id: agentId } = agents[name] as Agent
        await writer.setAgentTrust({ agentId, ...said, fingerprints: [root.sha256] })
      }
      const { id: agentId } = agents['renewing'] as Agent
      await writer.setAgentTrust({ agentId, ...said, fingerprints: ['0'.repeat(64)] })
    })
    await insertToken(store)
    await insertToken(store, { consumedAt: NOW })
    await store.write(async (writer) => {
      for (const [name, endedAt] of [
        ['ana', null],
        ['gone', NOW],
      ] as const) {
        await writer.insertAccessToken({
          hash: hashToken(name),
          name,
          person: null,
          role: 'viewer',
          only: null,
          createdAt: NOW,
          expiresAt: new Date(NOW.getTime() + DAY_MS),
          lastUsedAt: null,
          revokedAt: null,
          endedAt,
        })
      }
    })
    await append(store, { eventType: 'admin_refused', at: new Date(nowMs - 2 * HOUR_MS) })
    await append(store, { eventType: 'admin_refused', at: NOW })
    const summarised: StoreReader = Object.create(store.reader, {
      summariseFleet: {
        value: (rule: Parameters<StoreReader['summariseFleet']>[0]) => {
          asked += 1
          return store.reader.summariseFleet(rule)
        },
      },
    }) as StoreReader
    hub = {
      store: { ...store, reader: summarised, write: (work) => store.write(work) },
      clock: { now: () => new Date(nowMs), sleep: () => Promise.resolve() },
      addresses: { enrollUrl: 'https://hub.test:8444', mtlsUrl: 'https://hub.test:8443' },
      hubNames: ['hub.test'],
      contentBytesMax: 1024,
      renewalThresholdMs: 6 * HOUR_MS,
    }
  })
  after(() => store[Symbol.asyncDispose]())

  const summarize = (more: Partial<AdminHub> = {}): Promise<AdminFleetSummary> =>
    createAdminOperations({ ...hub, ...more }, 'admin', 'viewer').summarizeFleet({})

  test('[MET-24] [OVW-5] svc status gets the survival of those on time alike', async () => {
    const { survival_on_time: shown } = await summarize()
    const status = await createAdminOperations(hub, 'admin', 'viewer').showStatus({})
    assert.equal(shown?.first.hostname, 'renewing')
    assert.deepEqual(status.survival_on_time, shown)
  })

  test('counts hosts, entregas and what the menu shows, as its schema says', async () => {
    const reply = await summarize()
    assert.ok(Check(Schema, reply))
    assert.deepEqual(reply.agentes, { registered: 3, atrasado: 3, revoked: 1, connected: null })
    assert.equal(reply.entregas.falhou, 2)
    assert.deepEqual(reply.counts, {
      agentes: 7,
      cargas: 1,
      entregas_falhou: 2,
      politicas: 0,
      tokens: 1,
      join_rules: 0,
      webhooks: 0,
      admin_tokens: 1,
    })
    assert.equal(reply.admin_refused, 1)
  })

  test('[OVW-3] has the certificates by when they end, and when they are expected to be renewed', async () => {
    const { certificados } = await summarize()
    const { buckets, bucket_seconds: seconds, from, ...totals } = certificados
    assert.deepEqual([seconds, from], [1800, '2026-11-21T10:00:00.000Z'])
    assert.deepEqual(totals, { expired: 1, atrasado: 2, renewing: 1, fresh: 2, later: 0 })
    const at = (hours: number) => buckets[2 * hours]
    const none = { expired: 0, atrasado: 0, renewing: 0, fresh: 0, renewals: 0 }
    assert.deepEqual(at(1), { ...none, atrasado: 1 })
    assert.deepEqual(at(5), { ...none, renewing: 1 })
    assert.deepEqual(at(20), { ...none, fresh: 1 })
    // Twenty hours less the threshold.
    assert.equal(at(14)?.renewals, 1)
    assert.equal(at(0)?.renewals, 1)
  })

  test('[OVW-4] names who is late and who has lost a certificate, the most urgent first, with what is known of why', async () => {
    const { atrasados, expirados } = await summarize({ waiting })
    const namesOf = ({ first }: AdminFleetSummary['atrasados']) =>
      first.map(({ hostname }) => hostname)
    assert.deepEqual([atrasados.total, namesOf(atrasados)], [2, ['late-2', 'late-1']])
    assert.deepEqual([expirados.total, namesOf(expirados)], [1, ['expired']])
    const [, late] = atrasados.first
    assert.deepEqual(
      [late?.purpose, late?.nome, late?.not_after, late?.atrasado_since, late?.connected],
      ['identity', null, '2026-11-21T12:00:00.123Z', '2026-11-21T09:00:00.123Z', null],
    )
    assert.deepEqual(
      [late?.waiting_reason, late?.waiting_reason_at],
      ['ca_failed: too long', '2026-11-21T09:59:00.123Z'],
    )
  })

  test('[OVW-4] a host is named once, however many of its certificates are late', async () => {
    await using own = await openTemporaryStore()
    const agent = await insertAgent(own, 'web-1')
    for (const name of ['site', 'mail']) {
      const delivery = await insertDelivery(own, agent.id, await insertCargo(own, name))
      await own.write(async (writer) => {
        await writer.setDeliveryStatus(delivery.id, 'instalada', NOW, null)
        await writer.insertCertificate({
          ...newCertificate(agent.id),
          purpose: 'delivery',
          deliveryId: delivery.id,
          notBefore: new Date(nowMs - DAY_MS),
          notAfter: new Date(nowMs + (name === 'site' ? HOUR_MS : -HOUR_MS)),
        })
      })
    }
    const { atrasados, expirados, survival, survival_on_time } = await summarize({ store: own })
    assert.deepEqual([atrasados.total, atrasados.first], [0, []])
    assert.deepEqual([expirados.total, expirados.first[0]?.nome], [1, 'mail'])
    assert.equal(survival?.first.nome, 'site')
    assert.equal(survival_on_time, null)
  })

  test('[OVW-4] of more than twenty each is named once, by its most urgent certificate, with the newest that is known', async () => {
    await using own = await openTemporaryStore()
    const hosts = Array.from({ length: 22 }, (_, at) => newAgent(`web-${at}`))
    const [first, second] = hosts
    assert.ok(first !== undefined && second !== undefined)
    await own.write(async (writer) => {
      for (const [at, { id }] of hosts.entries()) {
        await writer.insertAgent({ ...hosts[at]!, id })
        const notAfter = new Date(NOW.getTime() + 2 * HOUR_MS + at)
        const notBefore = new Date(NOW.getTime() - DAY_MS)
        await writer.insertCertificate({ ...newCertificate(id), notBefore, notAfter })
      }
      await writer.setAgentsPolled(new Map([[first.id, new Date(NOW.getTime() - 60_000)]]))
    })
    const cargo = await insertCargo(own, 'site')
    const installed = await insertDelivery(own, first.id, cargo)
    await own.write(async (writer) => {
      await writer.setDeliveryStatus(installed.id, 'instalada', NOW, null)
      await writer.insertCertificate({
        ...newCertificate(first.id),
        purpose: 'delivery',
        deliveryId: installed.id,
        notBefore: new Date(NOW.getTime() - DAY_MS),
        notAfter: new Date(NOW.getTime() + HOUR_MS),
      })
    })
    const known = createWaitingReasons()
    const mail = await insertDelivery(own, first.id, await insertCargo(own, 'mail'))
    known.note(installed.id, 'older', new Date(NOW.getTime() - 2000))
    known.note(mail.id, 'newer', new Date(NOW.getTime() - 1000))
    const polls = {
      lastPollAt: (id: string) => (id === second.id ? new Date(NOW.getTime() - 5000) : undefined),
    }
    const { atrasados } = await summarize({ store: own, waiting: known, polls })
    const named = atrasados.first
    assert.deepEqual([atrasados.total, named.length], [22, 20])
    assert.deepEqual(
      named.map(({ hostname }) => hostname),
      hosts.slice(0, 20).map(({ hostname }) => hostname),
    )
    assert.deepEqual(
      [named[0]?.purpose, named[0]?.nome, named[0]?.waiting_reason],
      ['delivery', 'site', 'newer'],
    )
    assert.deepEqual(
      named.slice(0, 3).map(({ last_contact_at: at }) => at),
      ['2026-11-21T09:59:00.123Z', '2026-11-21T09:59:55.123Z', null],
    )
  })

  test('[OVW-5] says for how long the hub may stay down, with and without the hosts that are late', async () => {
    const { survival, survival_on_time: onTime } = await summarize()
    assert.deepEqual([survival?.first.hostname, survival?.seconds], ['late-2', 3600])
    assert.deepEqual([onTime?.first.hostname, onTime?.seconds], ['renewing', 5 * 3600])
    const lose = (within: AdminFleetSummary['survival']) =>
      within?.losing.map(({ hours, agentes }) => [hours, agentes])
    assert.deepEqual(lose(survival), [
      [1, 1],
      [3, 2],
      [6, 3],
      [24, 4],
      [30, 5],
    ])
    assert.deepEqual(lose(onTime), [
      [1, 0],
      [3, 0],
      [6, 1],
      [24, 2],
      [30, 3],
    ])
  })

  test('[OVW-6] groups what failed, and what this hub refuses, by the reason', async () => {
    const { failures } = await summarize({ waiting })
    assert.deepEqual(
      failures.map(({ status, reason, count, example }) => [status, reason, count, example.nome]),
      [
        ['falhou', 'disk full', 2, 'site'],
        ['pendente', 'ca_failed: too long', 1, 'site'],
      ],
    )
    assert.equal(failures[1]?.example.hostname, 'late-1')
  })

  test('[OVW-7] counts the hosts that trust exactly the newest roots; revoked ones are not asked', async () => {
    const { raizes } = await summarize()
    assert.deepEqual(raizes, { epoca: 1, numero: 3, adopted: 2, agentes: 6 })
  })

  test('[OVW-2] a thousand requests within a second are computed once', async () => {
    nowMs += 60_000
    const { summarizeFleet } = createAdminOperations(hub, 'admin', 'viewer')
    asked = 0
    await Promise.all(Array.from({ length: 500 }, () => summarizeFleet({})))
    nowMs += 999
    for (let more = 0; more < 500; more += 1) await summarizeFleet({})
    // Once for the hosts, and once for the certificates.
    assert.equal(asked, 2)
    const { time, as_of } = await summarizeFleet({})
    assert.equal(Date.parse(time) - Date.parse(as_of), 999)
    // Another horizon is another question of the certificates alone, and the answer is as old as what is older.
    const other = await summarizeFleet({ horizon: '7d' })
    assert.equal(asked, 3)
    assert.deepEqual([other.as_of, other.time], [as_of, time])
    nowMs = NOW.getTime()
  })

  test('[OVW-8] of a running hub it says how that is, and shows samples where they are asked for', async () => {
    const sample = { ...NO_SAMPLE, connected: 4 }
    const live = {
      certificateEnd: () => new Date(nowMs + DAY_MS),
      lastCaFailure: () => ({ outcome: 'timeout', at: NOW }),
      countStreams: () => 4,
      readSamples: (minutes: number) => ({
        since: NOW,
        until: NOW,
        samples: Array.from({ length: minutes }, () => sample),
      }),
    }
    const subsystems = ['store', 'ca'].map((name) => ({
      name,
      ready: name !== 'ca',
      reason: 'why',
      since: null,
    }))
    const health = async () => ({ ready: false, subsystems, remarks: [] })
    const { summarizeFleet } = createAdminOperations({ ...hub, live, health }, 'admin', 'viewer')
    const { hub: how, agentes, samples } = await summarizeFleet({ samples: 'hour' })
    assert.equal(how?.name, 'hub.test')
    assert.equal(how?.certificate_not_after, '2026-11-22T10:00:00.123Z')
    assert.deepEqual(how?.ca, {
      ready: false,
      last_failure: { outcome: 'timeout', at: NOW.toISOString() },
    })
    assert.equal(agentes.connected, 4)
    assert.equal(samples?.connected.length, 60)
    assert.deepEqual([samples?.connected[59], samples?.busy_percent[0]], [4, null])
    assert.equal((await summarizeFleet({})).samples, null)
    assert.equal((await summarizeFleet({ samples: 'day' })).samples?.connected.length, 1440)
  })

  test('[OVW-8] without a running hub what only that knows is null', async () => {
    const {
      hub: how,
      agentes,
      samples,
    } = await createAdminOperations(hub, 'admin', 'viewer').summarizeFleet({ samples: 'day' })
    assert.deepEqual([how, agentes.connected, samples], [null, null, null])
  })

  test('[OVW-1] it is for viewers, and not for a token that is bounded to some hosts', () => {
    const { role, does, ...rest } = ADMIN_OPERATIONS.summarizeFleet
    assert.deepEqual([role, does, 'isForSomeHosts' in rest], ['viewer', 'reads', false])
  })
})
