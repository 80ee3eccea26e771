// The counts that triggers keep for `summarizeFleet`, through what may become of a host and of a carga.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import Database from 'better-sqlite3-multiple-ciphers'
import {
  insertAgent,
  insertCargo,
  insertDelivery,
  insertToken,
  LATER,
  newCertificate,
  NOW,
} from '../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { AgentTrust } from '../../domain/root-set.ts'
import { SUMMARY_COUNTS } from './fleet-summary-tables.ts'
import { LOOKED_MAX } from './late-hosts.ts'
import { MIGRATIONS } from './migrations.ts'
import { SqlSession } from './sql-session.ts'
import { SqliteReader } from './sqlite-reader.ts'

const ONE = 'a'.repeat(64)
const HASH = '0'.repeat(64)
const TWO = 'b'.repeat(64)

describe('[OVW-7] what agents say of the roots that they trust', () => {
  test('is counted for those that are neither revoked nor removed, whatever becomes of them', async () => {
    await using store = await openTemporaryStore()
    const agents = []
    for (const name of ['web-1', 'web-2', 'web-3']) agents.push(await insertAgent(store, name))
    const [first, second, third] = agents
    assert.ok(first !== undefined && second !== undefined && third !== undefined)
    const say = (agent: typeof first, said: Partial<AgentTrust>): Promise<void> =>
      store.write((writer) =>
        writer.setAgentTrust({
          agentId: agent.id,
          number: 1,
          fingerprints: [ONE],
          pinned: null,
          error: null,
          reportedAt: NOW,
          ...said,
        }),
      )
    const counts = async (): Promise<string[]> =>
      (await store.reader.summary.listTrustCounts(9))
        .map(
          ({ fingerprints, pinned, count }) =>
            `${fingerprints.length} roots, ${pinned?.length ?? 'none'} pinned: ${count}`,
        )
        .sort()
    for (const agent of agents) await say(agent, {})
    assert.deepEqual(await counts(), ['1 roots, none pinned: 3'])
    await say(second, { fingerprints: [ONE, TWO] })
    await say(second, { fingerprints: [ONE, TWO], error: 'why' })
    assert.deepEqual(await counts(), ['1 roots, none pinned: 2', '2 roots, none pinned: 1'])
    await say(second, { pinned: [ONE] })
    const revoke = (at: Date | null) =>
      store.write((writer) => writer.updateAgent({ ...first, revokedAt: at }))
    await revoke(NOW)
    await say(first, { fingerprints: [TWO] })
    assert.deepEqual(await counts(), ['1 roots, 1 pinned: 1', '1 roots, none pinned: 1'])
    await revoke(null)
    await store.write((writer) => writer.updateAgent({ ...second, removedAt: NOW }))
    await store.write((writer) => writer.removeAgentTrust(third.id))
    assert.deepEqual(await counts(), ['1 roots, none pinned: 1'])
    assert.deepEqual((await store.reader.summary.listTrustCounts(9))[0]?.fingerprints, [TWO])
  })
})

test('[OVW-3] certificates that live for so long that only the threshold counts are one group of their quarter', async () => {
  await using store = await openTemporaryStore()
  const day = 86_400_000
  const end = new Date(NOW.getTime() + 9 * day)
  for (const days of [0.5, 1, 7, 90]) {
    const { id } = await insertAgent(store, `web-${days}`)
    const lifetime = { notBefore: new Date(end.getTime() - days * day), notAfter: end }
    await store.write((writer) => writer.insertCertificate({ ...newCertificate(id), ...lifetime }))
  }
  const counts = await store.reader.summary.countEnds(
    { now: NOW, thresholdMs: day / 4 },
    { until: new Date(end.getTime() + day) },
  )
  assert.deepEqual(
    counts.map(({ lifeMinutes, count }) => `${count} of ${lifeMinutes} min`).sort(),
    ['1 of 720 min', '3 of 1081 min'],
  )
})

test('[OVW-1] cargas that are removed are not counted, nor tokens that were used or have ended', async () => {
  await using store = await openTemporaryStore()
  const { summary } = store.reader
  assert.deepEqual([await summary.countCargoes(), await summary.countOpenTokens(NOW, 9)], [0, 0])
  const cargo = await insertCargo(store, 'site')
  await insertCargo(store, 'mail')
  await store.write((writer) => writer.updateCargo({ ...cargo, removedAt: NOW }))
  await store.write((writer) => writer.updateCargo({ ...cargo, removedAt: LATER, version: 2 }))
  for (const changes of [{}, {}, { consumedAt: NOW }, { endedAt: NOW }, { expiresAt: NOW }]) {
    await insertToken(store, changes)
  }
  assert.equal(await summary.countCargoes(), 1)
  assert.equal(await summary.countOpenTokens(NOW, 9), 2)
  assert.equal(await summary.countOpenTokens(NOW, 1), 1)
})

test('[OVW-6] failures are grouped by the beginning of what their hosts said, without what is to be replaced', async () => {
  await using store = await openTemporaryStore()
  const cargo = await insertCargo(store, 'site')
  const long = 'x'.repeat(250)
  for (const [name, error] of [
    ['web-1', `${long}1`],
    ['web-2', `${long}2`],
    ['web-3', 'disk full'],
    ['web-4', null],
  ] as const) {
    const { id } = await insertDelivery(store, (await insertAgent(store, name)).id, cargo)
    await store.write((writer) => writer.setDeliveryStatus(id, 'falhou', NOW, error))
  }
  const replaced = await insertDelivery(store, (await insertAgent(store, 'web-5')).id, cargo)
  await store.write(async (writer) => {
    await writer.setDeliveryStatus(replaced.id, 'falhou', NOW, 'disk full')
    const successor = { ...replaced, id: crypto.randomUUID() as typeof replaced.id }
    await writer.replaceDeliveries([{ old: replaced.id, successor }], LATER)
  })
  // Replaced by a change that is in force, and has yet to come to its row.
  const changed = await insertDelivery(store, (await insertAgent(store, 'web-6')).id, cargo)
  await store.write(async (writer) => {
    await writer.setDeliveryStatus(changed.id, 'falhou', NOW, 'disk full')
    const successor = { ...changed, id: crypto.randomUUID() as typeof changed.id }
    const change = { act: 'update', cargoId: cargo.id, actor: 'admin', inForceAt: null } as const
    const id = await writer.insertChange(change)
    await writer.replaceDeliveries([{ old: changed.id, successor }], NOW, id)
    await writer.putInForce(id, LATER)
  })
  const groups = await store.reader.summary.groupFailures(9)
  assert.deepEqual(
    groups.map(({ reason, count }) => [reason.slice(0, 9), reason.length, count]),
    [
      ['xxxxxxxxx', 200, 2],
      ['', 0, 1],
      ['disk full', 9, 1],
    ],
  )
  assert.equal((await store.reader.summary.groupFailures(1)).length, 1)
})

test('[VLT-16] [OVW-3] of the one before a fleet was summarised: what there is is counted, also what an earlier program goes on to write', async () => {
  const database = new Database(':memory:')
  const step = MIGRATIONS.findIndex(({ sql }) => sql === SUMMARY_COUNTS)
  for (const { sql } of MIGRATIONS.slice(0, step)) database.exec(sql)
  const insertOld = (id: string): void =>
    void database.exec(`
      INSERT INTO agentes (id, hostname, role, token_hash, created_at)
        VALUES ('a-${id}', 'web-${id}', 'web', 't', 1);
      INSERT INTO agentes_raizes (agente_id, numero, fingerprints, reported_at)
        VALUES ('a-${id}', 1, '["${HASH}"]', 1);
      INSERT INTO cargas (id, tipo, nome, versao, sans, created_at)
        VALUES ('c-${id}', 'csr_cert', 'site', 1, '[]', 1);
      INSERT INTO certificados (sha256, serial, agente_id, purpose, not_before, not_after)
        VALUES ('${id.repeat(64)}', '0${id}', 'a-${id}', 'identity', 1, 86400001)`)
  insertOld('1')
  insertOld('2')
  database.exec(`UPDATE agentes SET revoked_at = 1 WHERE id = 'a-2';
    UPDATE cargas SET removed_at = 1 WHERE id = 'c-2'`)
  database.exec(SUMMARY_COUNTS)
  const session = new SqlSession(database)
  const { summary } = new SqliteReader(() => session)
  const rule = { now: new Date(0), thresholdMs: 8 * 3_600_000 }
  const counted = async () => [
    await summary.countCargoes(),
    await summary.listTrustCounts(9),
    await summary.countEnds(rule, { until: new Date(86_400_001) }),
    await summary.countAgentsEnding(new Date(86_400_001)),
  ]
  const expected = (count: number) => [
    count,
    [{ fingerprints: [HASH], pinned: null, count }],
    [{ quarterMs: 86_400_000, lifeMinutes: 1440, state: 'fresh', count }],
    count,
  ]
  assert.deepEqual(await counted(), expected(1))
  insertOld('3')
  assert.deepEqual(await counted(), expected(2))
  assert.equal(MIGRATIONS.find(({ sql }) => sql === SUMMARY_COUNTS)?.readableFrom, 37)
})

test('[OVW-5] [MET-12] among many that are late a host with certificates of short lives is not', async () => {
  await using store = await openTemporaryStore()
  const hour = 3_600_000
  const rule = { now: NOW, thresholdMs: 6 * hour }
  const give = async (name: string, lifeHours: number, leftHours: number): Promise<void> => {
    const { id } = await insertAgent(store, name)
    const notAfterMs = NOW.getTime() + leftHours * hour
    await store.write((writer) =>
      writer.insertCertificate({
        ...newCertificate(id),
        notBefore: new Date(notAfterMs - lifeHours * hour),
        notAfter: new Date(notAfterMs),
      }),
    )
  }
  for (const name of ['late-1', 'late-2', 'late-3']) await give(name, 24, 0.5)
  await give('short', 2, 1)
  await give('long', 24, 20)
  const { reader } = store
  const { agents, certificates } = await reader.summariseFleet(rule)
  assert.deepEqual([agents.late, agents.registered, certificates.identity.late], [3, 2, 3])
  assert.equal((await reader.summary.findFirstOnTime(rule))?.hostname, 'short')
  const untils = [0.75, 2, 24].map((hours) => new Date(NOW.getTime() + hours * hour))
  assert.deepEqual(await reader.summary.countOnTimeEnding(rule, untils), [0, 1, 2])
})

test('[OVW-5] [MET-12] of thousands that are late, beside as many of short lives that are not, each is counted once', async () => {
  const database = new Database(':memory:')
  for (const { sql } of MIGRATIONS) database.exec(sql)
  const hour = 3_600_000
  const nowMs = NOW.getTime()
  const hosts = LOOKED_MAX + 1
  // Each host renews an identity of a day; of half of the hosts a certificate of ninety days is late.
  database.exec(`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${2 * hosts})
    INSERT INTO agentes (id, hostname, role, token_hash, created_at)
      SELECT 'a-' || i, 'web-' || i, 'web', 't', 1 FROM n;
    INSERT INTO cargas (id, tipo, nome, versao, sans, created_at) VALUES ('c', 'csr_cert', 'site', 1, '[]', 1);
    INSERT INTO certificados (sha256, serial, agente_id, purpose, not_before, not_after)
      SELECT printf('1%063d', rowid), '1', id, 'identity', ${nowMs - 4 * hour}, ${nowMs + 20 * hour} + rowid FROM agentes;
    INSERT INTO entregas (id, carga_id, agente_id, status, updated_at, versao, sans)
      SELECT 'e-' || rowid, 'c', id, 'instalada', 1, 1, '[]' FROM agentes WHERE rowid <= ${hosts};
    INSERT INTO certificados (sha256, serial, agente_id, purpose, entrega_id, not_before, not_after)
      SELECT printf('2%063d', rowid), '1', id, 'delivery', 'e-' || rowid, ${nowMs - 2000 * hour}, ${nowMs + 40 * hour} + rowid
      FROM agentes WHERE rowid <= ${hosts}`)
  const texts: string[] = []
  const session = new SqlSession(database)
  const reader = new SqliteReader(() => noting(session, texts))
  const rule = { now: NOW, thresholdMs: 168 * hour }
  const { agents, certificates } = await reader.summariseFleet(rule)
  assert.deepEqual([agents.late, agents.registered], [hosts, hosts])
  assert.deepEqual([certificates.identity.late, certificates.delivery.late], [0, hosts])
  const untils = [19, 21, 48, 90, 100].map((hours) => new Date(nowMs + hours * hour))
  texts.length = 0
  assert.deepEqual(await reader.summary.countOnTimeEnding(rule, untils), [
    0,
    hosts,
    hosts,
    hosts,
    hosts,
  ])
  const times = (part: string): number => texts.filter((text) => text.includes(part)).length
  assert.equal(times('FROM validades_por_vida'), 1, 'the groups are judged once')
  // Before the first end that may be late, and after the last one, there are no others to count.
  assert.equal(times('FROM (SELECT 1 FROM validades'), 2, 'each other end is counted once')
  const first = await reader.summary.findFirstOnTime(rule)
  assert.equal(first?.hostname, `web-${hosts + 1}`)
})

/** The session, with the texts that are asked for. */
function noting(session: SqlSession, texts: string[]): SqlSession {
  return new Proxy(session, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...parameters: unknown[]): unknown => {
        texts.push(String(parameters[0]))
        return value.apply(target, parameters)
      }
    },
  })
}
