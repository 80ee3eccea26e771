// Enrolments by the token of a join rule: docs/protocol.md JNR.

import { useKeyOf } from '../../domain/join-rule.ts'
import { NO_ISSUERS } from '../../../../test/fakes/issuer-keys.ts'
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createFakeAuthority, type FakeAuthority } from '../../../../test/fakes/fake-authority.ts'
import { insertAgent, insertJoinRule, LATER, NOW } from '../../../../test/store/store-samples.ts'
import { collectLog, type LoggedLine } from '../../../../test/support/collected-log.ts'
import { makeCsrPem } from '../../../../test/support/made-csr.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { createSettableClock, type SettableClock } from '../../../../test/support/settable-clock.ts'
import { openSharingStores, openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { EnrollRequestBody } from '../../../protocol/schemas.ts'
import { CaError } from '../../ca/certificate-authority.ts'
import type { JoinRule } from '../../domain/join-rule.ts'
import type { Store } from '../../store/store.ts'
import { createEnrollAgent, type EnrollAgent } from './enroll-agent.ts'

const MINUTE_MS = 60_000
const CSR = makeCsrPem('any')
const KEY = 'an-idempotency-key'
const HUB_NAMES = ['hub.example.org', '*.hub.example.org']

let store: Store & AsyncDisposable
let clock: SettableClock
let authority: FakeAuthority
let lines: LoggedLine[]
let enrollAgent: EnrollAgent
let counted: string[]
let count = 0

before(async () => {
  store = await openTemporaryStore()
})
after(() => store[Symbol.asyncDispose]())
beforeEach(() => {
  clock = createSettableClock(NOW)
  authority = createFakeAuthority(clock)
  const collected = collectLog()
  ;({ lines } = collected)
  counted = []
  enrollAgent = createEnrollAgent({
    keys: NO_ISSUERS,
    store,
    authority,
    clock,
    log: collected.log,
    hubNames: HUB_NAMES,
    onJoinRefused: (reason) => void counted.push(reason),
  })
})

interface Image {
  readonly rule: JoinRule
  readonly ask: (host: string, changes?: Partial<EnrollRequestBody>) => Promise<string>
  readonly find: () => Promise<JoinRule>
}

/** A rule of its own for each test, for a domain of its own. */
async function makeImage(changes: Partial<JoinRule> = {}): Promise<Image> {
  const number = (count += 1)
  const pattern = `web-*.d${number}.example.org`
  const { rule, token } = await insertJoinRule(store, { pattern, ...changes })
  const ask = async (host: string, other: Partial<EnrollRequestBody> = {}): Promise<string> => {
    const hostname = `${host}.d${number}.example.org`
    const request = { token, hostname, role: 'web', csr_pem: CSR, ...other }
    const outcome = await enrollAgent(request, KEY)
    return outcome.ok ? outcome.certificatePem : outcome.refusal
  }
  const find = async () => (await store.reader.findJoinRule(rule.id)) ?? assert.fail('the rule')
  return { rule, ask, find }
}

describe('a host with the token of a join rule', () => {
  test('[JNR-1] [LBL-4] gets the labels of the rule', async () => {
    const { rule, ask } = await makeImage({ labels: new Map([['env', 'prod']]) })
    assert.match(await ask('web-1'), /^chain 1$/)
    const hostname = rule.pattern.replace('*', '1')
    const agent = (await store.reader.findAgentByHostname(hostname)) ?? assert.fail('the host')
    const labels = (await store.reader.listLabels([agent.id])).get(agent.id)
    assert.deepEqual([...(labels ?? [])], [['env', 'prod']])
  })

  test('[JNR-2] [JNR-10] enrols under its own name, and the log names the rule', async () => {
    const { rule, ask, find } = await makeImage()
    const seq = await lastSeq(store.reader)
    assert.match(await ask('web-1'), /^chain 1$/)
    assert.match(await ask('web-2'), /^chain 2$/)
    assert.equal((await find()).hosts, 2)
    const acts = await readActs(store.reader, seq)
    const enrolled = acts
      .filter(([type]) => type === 'agent_enrolled')
      .map(([, said]) => said as Readonly<Record<string, unknown>>)
    assert.deepEqual(
      enrolled.map(({ hostname, join_rule, join_rule_id, actor }) => [
        actor,
        String(hostname).split('.')[0],
        join_rule,
        join_rule_id,
      ]),
      [
        ['token', 'web-1', rule.name, rule.id],
        ['token', 'web-2', rule.name, rule.id],
      ],
    )
    const ids = enrolled.map(({ token_id }) => String(token_id))
    assert.equal(new Set(ids).size, 2)
    const joined = await store.reader.pageJoinedHosts(rule.id, { limit: 10 })
    assert.deepEqual(
      joined?.map(({ tokenHash, agentId, joinedAt }) => [
        tokenHash.slice(0, 16),
        agentId,
        joinedAt,
      ]),
      enrolled.map(({ token_id, agente_id }) => [token_id, agente_id, NOW]),
    )
  })

  test('[JNR-2] [ENR-17] whose reply was lost gets it again; a second use of its name is none', async () => {
    const { ask, find } = await makeImage()
    assert.equal(await ask('web-1'), 'chain 1')
    assert.equal(await ask('web-1'), 'chain 1')
    assert.equal(await ask('web-1', { csr_pem: makeCsrPem('other') }), 'token_consumed')
    assert.equal((await find()).hosts, 1)
    assert.equal(authority.asked.length, 1)
  })

  test('[JNR-7] is refused by the codes of a token: name, role, names of the hub, names that are taken', async () => {
    const { ask } = await makeImage()
    assert.equal(await ask('db-1'), 'hostname_mismatch')
    assert.equal(await ask('web-1', { hostname: 'Web-1.example.org' }), 'hostname_mismatch')
    assert.equal(await ask('web-1', { role: 'db' }), 'role_mismatch')
    await insertAgent(store, `web-9.d${count}.example.org`)
    assert.equal(await ask('web-9'), 'agent_already_enrolled')
    assert.equal(await ask('web-1', { csr_pem: 'none' }), 'csr_invalid')
    const { ask: askForHub } = await makeImage({ pattern: '*.example.org' })
    assert.equal(await askForHub('x', { hostname: 'hub.example.org' }), 'hostname_mismatch')
    assert.equal(authority.asked.length, 0)
  })

  test('[JNR-7] [JNR-9] [MET-36] is refused by a rule that has ended, is full or has expired, and the log says which it was', async () => {
    const { ask } = await makeImage({ endedAt: NOW })
    const full = await makeImage({ hostsMax: 1, expiresAt: new Date(LATER.getTime() + 1) })
    assert.equal(await full.ask('web-1'), 'chain 1')
    const seq = await lastSeq(store.reader)
    assert.equal(await ask('web-1'), 'token_expired')
    for (const host of ['web-2', 'web-3', 'web-4']) {
      assert.equal(await full.ask(host), 'token_expired')
    }
    const old = await makeImage()
    clock.set(LATER)
    assert.equal(await old.ask('web-1'), 'token_expired')
    clock.set(NOW)
    assert.equal(await old.ask('web-1'), 'token_expired', 'for good')
    const refused = async () => {
      // Entries go after the answers; writes have their turn one after the other.
      await store.write(async () => 'all before it')
      return (await readActs(store.reader, seq))
        .filter(([type]) => type === 'join_refused')
        .map(([, said]) => said as { reason: string; count: number })
        .map((said) => [said.reason, said.count])
    }
    assert.deepEqual(await refused(), [
      ['ended', 1],
      ['full', 1],
      ['expired', 1],
      ['expired', 1],
    ])
    assert.deepEqual(
      lines
        .filter(({ message }) => message === 'Join refused')
        .map(({ fields }) => fields['reason']),
      ['ended', 'full', 'expired', 'expired'],
    )
    clock.pass(11 * MINUTE_MS)
    assert.equal(await full.ask('web-5'), 'token_expired')
    assert.deepEqual((await refused()).at(-1), ['full', 3])
    const times = Object.fromEntries(Map.groupBy(counted, (reason) => reason))
    const lengths = Object.entries(times).map(([reason, all]) => [reason, all?.length])
    assert.deepEqual(lengths, [
      ['ended', 1],
      ['full', 4],
      ['expired', 2],
    ])
  })

  test('[JNR-8] may try ten wrong names, then one a minute; hosts of the rule go on', async () => {
    const { ask, find } = await makeImage()
    for (let tries = 0; tries < 10; tries += 1) assert.equal(await ask('db-1'), 'hostname_mismatch')
    assert.equal(await ask('db-1'), 'rate_limited')
    assert.equal(await ask('web-1', { role: 'db' }), 'rate_limited')
    assert.equal(await ask('web-1'), 'chain 1')
    assert.equal((await find()).endedAt, null)
    clock.pass(MINUTE_MS)
    assert.equal(await ask('db-1'), 'hostname_mismatch')
    assert.equal(await ask('db-1'), 'rate_limited')
  })

  test('[JNR-6] that the CA refuses takes no place for good', async () => {
    const { ask, find } = await makeImage({ hostsMax: 1 })
    authority.failWith(new CaError('refused', 'no'))
    for (const host of ['web-1', 'web-2', 'web-3']) assert.equal(await ask(host), 'ca_failed')
    assert.equal((await find()).hosts, 0)
    assert.deepEqual(await store.reader.findOpenTokens(`web-1.d${count}.example.org`, NOW), [])
    authority.failWith(undefined)
    assert.equal(await ask('web-4'), 'chain 4')
    assert.equal(await ask('web-5'), 'token_expired')
  })

  test('[JNR-6] waits while the last place is held, and is told to come back when nothing becomes of that', async () => {
    const { ask } = await makeImage({ hostsMax: 1 })
    const release = authority.hold()
    const first = ask('web-1')
    await authority.untilAsked(1)
    assert.equal(await ask('web-2'), 'unavailable')
    assert.equal(authority.asked.length, 1)
    release()
    assert.equal(await first, 'chain 1')
    assert.equal(await ask('web-2'), 'token_expired')
  })

  test('[JNR-4] whose rule ends while the CA signs gets nothing', async () => {
    const { rule, ask, find } = await makeImage()
    const release = authority.hold()
    const first = ask('web-1')
    await authority.untilAsked(1)
    await store.write((writer) => writer.updateJoinRule({ ...rule, endedAt: NOW }))
    release()
    assert.equal(await first, 'token_expired')
    assert.equal((await find()).hosts, 0)
    assert.equal(await store.reader.findAgentByHostname(`web-1.d${count}.example.org`), undefined)
  })

  test('[JNR-2] the token that is derived for a host opens nothing by itself', async () => {
    const { rule, ask } = await makeImage()
    await ask('web-1')
    const [use] = (await store.reader.pageJoinedHosts(rule.id, { limit: 1 })) ?? []
    assert.notEqual(use?.tokenHash, undefined)
    assert.equal(await ask('web-1', { token: use?.tokenHash ?? '' }), 'token_not_found')
    assert.equal(await ask('web-1', { token: useKeyOf(rule) }), 'token_not_found')
  })
})

describe('64 hosts at once at three hubs', () => {
  for (const isCaSlow of [false, true]) {
    test(`[JNR-6] by a rule for 40: 40 join, ${isCaSlow ? 'while the CA fails now and then' : 'with a CA that signs'}`, async () => {
      await using stores = await openSharingStores(3)
      const live: Clock = { now: () => NOW, sleep: (ms) => sleep(Math.min(ms, 5)) }
      const fake = createFakeAuthority(live)
      const flaky = isCaSlow
        ? {
            ...fake,
            sign: async (...request: Parameters<typeof fake.sign>) => {
              const signed = await fake.sign(...request)
              await sleep(1)
              if (fake.asked.length % 3 === 0) throw new CaError('unreachable', 'no')
              return signed
            },
          }
        : fake
      const [first] = stores.all
      assert.ok(first)
      const { rule, token } = await insertJoinRule(first, { hostsMax: 40 })
      for (const each of stores.all) await each.follow()
      const hubs = stores.all.map((each, at) =>
        createEnrollAgent({
          keys: NO_ISSUERS,
          store: each,
          authority: flaky,
          clock: live,
          log: collectLog().log,
          hubNames: [],
          hubId: `hub-${at}`,
        }),
      )
      // As hubs do all the time.
      const done = new AbortController()
      const followed = stores.all.map(async (each) => {
        while (!done.signal.aborted) {
          await each.follow()
          await sleep(2)
        }
      })
      const join = async (at: number, triesLeft = 100): Promise<string> => {
        const hostname = `web-${at}.example.org`
        const body = { token, hostname, role: 'web', csr_pem: CSR }
        const outcome = await hubs[at % hubs.length]?.(body, `key-${at}`)
        if (outcome === undefined || outcome.ok) return 'joined'
        const isTransient = ['ca_failed', 'unavailable'].includes(outcome.refusal)
        return isTransient && triesLeft > 0 ? join(at, triesLeft - 1) : outcome.refusal
      }
      const outcomes = await Promise.all(Array.from({ length: 64 }, (_, at) => join(at)))
      done.abort()
      await Promise.all(followed)
      const joined = outcomes.filter((outcome) => outcome === 'joined').length
      assert.equal(joined, 40)
      assert.equal(outcomes.filter((outcome) => outcome === 'token_expired').length, 24)
      for (const each of stores.all) {
        await each.follow()
        assert.equal((await each.reader.findJoinRule(rule.id))?.hosts, 40)
        assert.equal(await each.reader.countJoinClaims(rule.id), 0)
      }
      stores.assertSame()
    })
  }
})
