import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { beforeEach, afterEach, describe, test } from 'node:test'
import {
  insertAgent,
  insertCertificate,
  insertJoinRule,
  newAgent,
  NOW,
} from '../../../../test/store/store-samples.ts'
import { collectLog } from '../../../../test/support/collected-log.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { createSettableClock, type SettableClock } from '../../../../test/support/settable-clock.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { AgentId, TokenHash } from '../../../protocol/identifiers.ts'
import type { Agent } from '../../domain/agent.ts'
import type { JoinRule } from '../../domain/join-rule.ts'
import type { Store } from '../../store/store.ts'
import { revokeSilentHosts } from './silent-hosts.ts'

const HOUR_MS = 3_600_000
const SILENT_MS = 48 * HOUR_MS

let store: Store & AsyncDisposable
let clock: SettableClock
let rule: JoinRule
let cut: AgentId[]
let counted: number
let beside: Agent
let walks: Map<JoinRule['id'], number>

beforeEach(async () => {
  store = await openTemporaryStore()
  clock = createSettableClock(NOW)
  cut = []
  counted = 0
  walks = new Map()
  rule = (await insertJoinRule(store, { silentMs: SILENT_MS, hostsMax: 1000 })).rule
  beside = await insertAgent(store, 'beside.example.org')
})
afterEach(() => store[Symbol.asyncDispose]())

async function join(hostname: string): Promise<Agent> {
  const hash = randomBytes(32).toString('hex') as TokenHash
  const agent: Agent = { ...newAgent(hostname), enrolledWith: hash, createdAt: clock.now() }
  await store.write(async (writer) => {
    await writer.insertToken({
      hash,
      expectedHostname: agent.hostname,
      expectedRole: 'web',
      createdAt: NOW,
      expiresAt: rule.expiresAt,
      consumedAt: clock.now(),
      endedAt: null,
      isReenrollment: false,
      isOperators: false,
      mismatches: 0,
      labels: new Map(),
      joinRuleId: rule.id,
      replay: null,
    })
    await writer.insertAgent(agent)
  })
  return agent
}

const poll = (...agents: readonly Agent[]): Promise<void> =>
  store.write((writer) =>
    writer.setAgentsPolled(new Map(agents.map(({ id }) => [id, clock.now()]))),
  )

async function round(): Promise<void> {
  const { log } = collectLog()
  const cutOff = (id: AgentId): void => void cut.push(id)
  const onRevoked = (hosts: number): void => void (counted += hosts)
  const dependencies = { store, clock, log, cutOff, onRevoked }
  await revokeSilentHosts(dependencies, walks, new AbortController().signal)
}

/** Hour by hour, with a poll of these in each. */
async function pass(hours: number, ...polling: readonly Agent[]): Promise<void> {
  for (let hour = 0; hour < hours; hour += 1) {
    clock.pass(HOUR_MS)
    if (polling.length > 0) await poll(...polling)
    await round()
  }
}

describe('[JNR-14] [JNR-15] a host that joined by a rule', () => {
  test('[MET-36] is revoked when it was silent for long enough while the hub heard others', async () => {
    const [gone, there] = [await join('web-1.example.org'), await join('web-2.example.org')]
    const certificate = await insertCertificate(store, gone.id)
    await poll(gone, there, beside)
    await round()
    const seq = await lastSeq(store.reader)
    await pass(47, there, beside)
    assert.deepEqual(cut, [])
    await pass(1, there, beside)
    assert.deepEqual(cut, [gone.id])
    assert.deepEqual((await store.reader.findAgentById(gone.id))?.revokedAt, clock.now())
    const { revokedAt } = (await store.reader.findCertificate(certificate.sha256)) ?? assert.fail()
    assert.notEqual(revokedAt, null)
    assert.deepEqual(await readActs(store.reader, seq), [
      [
        'agent_revoked',
        {
          actor: 'hub',
          agente_id: gone.id,
          hostname: 'web-1.example.org',
          tokens_ended: 0,
          reason: 'silent',
          join_rule_id: rule.id,
          join_rule: rule.name,
          last_contact_at: NOW.toISOString(),
        },
      ],
    ])
    await pass(50, there, beside)
    assert.equal(cut.length, 1, 'once')
    assert.equal(counted, 1)
  })

  test('stays when nobody else is heard, however long that is', async () => {
    const [one, other] = [await join('web-1.example.org'), await join('web-2.example.org')]
    await poll(one, other, beside)
    await pass(500)
    await poll(beside)
    await round()
    assert.deepEqual(cut, [])
    await pass(47, beside)
    assert.deepEqual(cut, [], 'counted anew')
    await pass(2, beside)
    assert.deepEqual(new Set(cut), new Set([one.id, other.id]))
  })

  test('stays while the hub itself was down, or was restored from a backup', async () => {
    const host = await join('web-1.example.org')
    await poll(host, beside)
    await round()
    await pass(10, host, beside)
    clock.pass(1000 * HOUR_MS)
    // Another host comes back first.
    await poll(beside)
    await round()
    await pass(40, beside)
    assert.deepEqual(cut, [])
  })

  test('is not revoked for the start of a hub that was down for less than a quarter of the time', async () => {
    const host = await join('web-1.example.org')
    await poll(host, beside)
    await round()
    clock.pass(11 * HOUR_MS)
    await poll(beside)
    await round()
    await pass(36, beside)
    assert.deepEqual(cut, [])
    await pass(2, beside)
    assert.deepEqual(cut, [host.id])
  })

  test('stays when another token enrolled it again, and when it has sent an event', async () => {
    const [again, events] = [await join('web-1.example.org'), await join('web-2.example.org')]
    await poll(again, events, beside)
    await round()
    const enrolledWith = 'e'.repeat(64) as TokenHash
    await store.write((writer) => writer.updateAgent({ ...again, enrolledWith }))
    for (let day = 0; day < 4; day += 1) {
      await pass(24, beside)
      await store.write((writer) => writer.setAgentSeen(events.id, clock.now()))
    }
    assert.deepEqual(cut, [])
  })

  test('is one of many: all are revoked, in commits of fifty', async () => {
    const hosts: Agent[] = []
    for (let at = 0; at < 120; at += 1) hosts.push(await join(`web-${at}.example.org`))
    await poll(...hosts, beside)
    await round()
    await pass(49, beside)
    assert.equal(new Set(cut).size, 120)
    const joined = await store.reader.pageJoinedHosts(rule.id, { limit: 200 })
    assert.ok(joined?.every(({ revokedAt }) => revokedAt !== null))
  })

  test('is let alone by a rule that says nothing of silence', async () => {
    const quiet = (await insertJoinRule(store)).rule
    assert.deepEqual(await store.reader.listWatchedJoinRules(), [])
    rule = quiet
    await join('web-1.example.org')
    await pass(100, beside)
    assert.deepEqual(cut, [])
  })
})
