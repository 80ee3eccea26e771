import { NO_ISSUERS } from '../../../../test/fakes/issuer-keys.ts'
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createFakeAuthority, type FakeAuthority } from '../../../../test/fakes/fake-authority.ts'
import { insertAgent, insertToken, NOW } from '../../../../test/store/store-samples.ts'
import { collectLog, type LoggedLine } from '../../../../test/support/collected-log.ts'
import { makeCsrPem } from '../../../../test/support/made-csr.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { createSettableClock, type SettableClock } from '../../../../test/support/settable-clock.ts'
import { createGate } from '../../../../test/support/scripted-ca.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { Hostname } from '../../../protocol/identifiers.ts'
import type { EnrollRequestBody } from '../../../protocol/schemas.ts'
import { CaError } from '../../ca/certificate-authority.ts'
import { endToken, type EnrollmentToken } from '../../domain/enrollment-token.ts'
import type { Store } from '../../store/store.ts'
import { hashToken } from '../../domain/hash-token.ts'
import { createEnrollAgent, type EnrollAgent } from './enroll-agent.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const CSR = makeCsrPem('any')

let store: Store & AsyncDisposable
let clock: SettableClock
let authority: FakeAuthority
let lines: LoggedLine[]
let announced: string[]
let enrollAgent: EnrollAgent
let count = 0

before(async () => {
  store = await openTemporaryStore()
})
after(() => store[Symbol.asyncDispose]())
beforeEach(() => {
  clock = createSettableClock(NOW)
  authority = createFakeAuthority(clock)
  announced = []
  enrollAgent = createOn(store)
})

function createOn(on: Store): EnrollAgent {
  const collected = collectLog()
  ;({ lines } = collected)
  const notifier = { announce: (ids: Iterable<string>): void => void announced.push(...ids) }
  const hubNames = ['hub.example', '*.hub.example']
  return createEnrollAgent({
    keys: NO_ISSUERS,
    store: on,
    authority,
    clock,
    log: collected.log,
    hubNames,
    notifier,
  })
}

interface Guest extends EnrollRequestBody {
  readonly find: () => Promise<EnrollmentToken | undefined>
}

/** A host of its own for each test, with a token that is good for an hour. */
async function invite(changes: Partial<EnrollmentToken> = {}): Promise<Guest> {
  const number = (count += 1)
  const token = `svct_${number}`
  const hostname = changes.expectedHostname ?? (`host-${number}` as Hostname)
  const hash = hashToken(token)
  await insertToken(store, {
    hash,
    isReenrollment: false,
    ...changes,
    expectedHostname: hostname,
  })
  const find = (): Promise<EnrollmentToken | undefined> => store.reader.findToken(hash)
  return { token, hostname, role: 'web', csr_pem: CSR, find }
}

async function answer(request: EnrollRequestBody, key?: string): Promise<string> {
  const outcome = await enrollAgent(request, key)
  return outcome.ok ? outcome.certificatePem : outcome.refusal
}

describe('an enrolment', () => {
  test('[ENR-2] [ENR-11] gives the host an identity of its own name, and its streams are told', async () => {
    const guest = await invite()
    const seq = await lastSeq(store.reader)
    const outcome = await enrollAgent(guest, undefined)
    const agent = await store.reader.findAgentByHostname(guest.hostname)
    assert.deepEqual(outcome, {
      ok: true,
      agentId: agent?.id,
      certificatePem: 'chain 1',
      rootPem: 'the roots',
    })
    assert.deepEqual(
      authority.asked.map(({ commonName, sans, lifetimeSeconds }) => [
        commonName,
        sans,
        lifetimeSeconds,
      ]),
      [[guest.hostname, [guest.hostname], undefined]],
    )
    assert.deepEqual((await guest.find())?.consumedAt, NOW)
    const types = (await readActs(store.reader, seq)).map(([type]) => type)
    assert.deepEqual(types, ['agent_enrolled', 'certificate_issued'])
    assert.deepEqual(announced, [agent?.id])
    assert.deepEqual(
      lines.map(({ level, message }) => [level, message]),
      [['info', 'Agent enrolled']],
    )
  })

  test('[ENR-3] [ENR-4] [ENR-5] [ENR-6] [ENR-7] [ENR-8] [ENR-20] is refused for the first of all that is wrong with it', async () => {
    const good = await invite()
    await insertAgent(store, good.hostname)
    const { expiresAt } = (await good.find()) ?? assert.fail()
    const used = await invite({ consumedAt: NOW, expiresAt: NOW })
    const ended = await invite({ expiresAt: NOW })
    const wrong = { hostname: 'other', role: 'other', csr_pem: 'none' }
    const rows: [EnrollRequestBody, string][] = [
      [{ ...wrong, token: 'svct_unknown' }, 'token_not_found'],
      [{ ...wrong, token: used.token }, 'token_consumed'],
      [{ ...wrong, token: ended.token }, 'token_expired'],
      [{ ...wrong, token: good.token }, 'hostname_mismatch'],
      [{ ...wrong, token: good.token, hostname: good.hostname }, 'role_mismatch'],
      [{ ...good, csr_pem: 'none' }, 'agent_already_enrolled'],
    ]
    for (const [request, refusal] of rows) assert.equal(await answer(request), refusal)
    assert.equal(authority.asked.length, 0)
    clock.set(expiresAt)
    assert.equal(await answer(good), 'token_expired')
  })

  test('[ENR-9] [ENR-12] is refused for a CSR that is none, or asks for another name; the token stays', async () => {
    const guest = await invite()
    for (const csr of [
      'none',
      makeCsrPem('any', ['other']),
      makeCsrPem('any', [guest.hostname, 'x']),
    ])
      assert.equal(await answer({ ...guest, csr_pem: csr }), 'csr_invalid')
    assert.equal(
      await answer({ ...guest, csr_pem: makeCsrPem('any', [guest.hostname]) }),
      'chain 1',
    )
  })

  test('[TOK-5] is refused for a name that the hub has by now', async () => {
    for (const name of ['hub.example', 'web.hub.example'])
      assert.equal(
        await answer(await invite({ expectedHostname: name as Hostname })),
        'hostname_mismatch',
      )
  })

  test('[TOK-4] that was refused as expired stays so when the clock is set back', async () => {
    const expiresAt = new Date(NOW.getTime() + MINUTE_MS)
    const guest = { ...(await invite({ expiresAt })), csr_pem: 'none' }
    assert.equal(await answer(guest), 'csr_invalid')
    clock.set(expiresAt)
    assert.equal(await answer(guest), 'token_expired')
    clock.set(NOW)
    const commits = store.version
    assert.equal(await answer(guest), 'token_expired')
    assert.equal(store.version, commits, 'and is written down once')
  })

  test('[TOK-7] with a tenth wrong name ends its token for good, and that is recorded once', async () => {
    const guest = await invite()
    const seq = await lastSeq(store.reader)
    const wrong = [{ hostname: 'other' }, { role: 'other' }]
    for (let attempt = 0; attempt < 9; attempt += 1)
      await answer({ ...guest, ...wrong[attempt % 2] })
    assert.deepEqual(await readActs(store.reader, seq), [])
    assert.equal(await answer({ ...guest, hostname: 'other' }), 'hostname_mismatch')
    const token_id = hashToken(guest.token).slice(0, 16)
    const payload = { actor: 'hub', token_id, hostname: guest.hostname, reason: 'mismatches' }
    assert.deepEqual(await readActs(store.reader, seq), [['token_revoked', payload]])
    assert.deepEqual(
      lines.map(({ level, message }) => [level, message]),
      [['warn', 'Token ended after too many mismatches']],
    )
    clock.pass(-MINUTE_MS)
    assert.equal(await answer(guest), 'token_expired')
    assert.equal(await answer({ ...guest, hostname: 'other' }), 'token_expired')
    assert.equal((await readActs(store.reader, seq)).length, 1)
  })
})

describe('an enrolment whose CA', () => {
  test('[ENR-10] [ENR-12] [ENR-13] does not sign leaves everything as it was, and the log says why', async () => {
    const guest = await invite()
    const commits = store.version
    for (const reason of ['refused', 'unreachable'] as const) {
      authority.failWith(new CaError(reason, 'no'))
      assert.equal(await answer(guest), 'ca_failed')
    }
    assert.deepEqual(
      lines.map(({ level, message, fields }) => [level, message, fields['reason']]),
      [
        ['warn', 'Certificate for enrolment not obtained', 'refused'],
        ['warn', 'Certificate for enrolment not obtained', 'unreachable'],
      ],
    )
    assert.equal(store.version, commits)
    authority.failWith(undefined)
    assert.equal(await answer(guest), 'chain 3')
  })

  test('[POL-7] refuses the life that a politica asks for: the log names it', async () => {
    const guest = { ...(await invite({ expectedRole: 'short' })), role: 'short' }
    await store.write((writer) =>
      writer.setPolicy({
        role: 'short',
        name: 'short-lived',
        tokenTtlSecondsMax: null,
        certTtlSeconds: 3600,
        permittedSans: ['*'],
        areSansNamed: false,
        mayOperatorsReenroll: false,
        automaticCargoes: [],
      }),
    )
    authority.failWith(new CaError('refused', 'too long'))
    assert.equal(await answer(guest), 'ca_failed')
    assert.equal(authority.asked[0]?.lifetimeSeconds, 3600)
    const { politica, cert_ttl, hint } = lines[0]?.fields ?? {}
    assert.deepEqual([politica, cert_ttl], ['short-lived', '1h'])
    assert.equal(hint, 'the claims of the CA’s provisioner bound the cert_ttl of a politica')
  })

  test('is broken in a way that nobody foresaw throws, and the token can be used again', async () => {
    const guest = await invite()
    authority.failWith(new TypeError('a bug'))
    await assert.rejects(answer(guest), { name: 'TypeError', message: 'a bug' })
    authority.failWith(undefined)
    assert.equal(await answer(guest), 'chain 2')
  })

  test('[ENR-15] [TOK-4] signs after the token has expired signs for nobody', async () => {
    const guest = await invite()
    const release = authority.hold()
    const underWay = answer(guest)
    await authority.untilAsked(1)
    clock.pass(DAY_MS)
    release()
    assert.equal(await underWay, 'token_expired')
    assert.equal(await store.reader.findAgentByHostname(guest.hostname), undefined)
    assert.deepEqual(
      lines.map(({ level, message, fields }) => [level, message, fields['serial']]),
      [['warn', 'Orphan certificate', '1']],
    )
    assert.deepEqual(announced, [])
  })

  test('[ENR-15] has signed for a hub that cannot write it down: the token is unused', async () => {
    const guest = await invite()
    let writes = 0
    const write: Store['write'] = (work, company) => {
      // The request is written before the CA is asked.
      if ((writes += 1) > 1) assert.fail('the disk is full')
      return store.write(work, company)
    }
    enrollAgent = createOn({ ...store, write })
    await assert.rejects(answer(guest), { message: 'the disk is full' })
    assert.equal((await guest.find())?.consumedAt, null)
    enrollAgent = createOn(store)
    assert.equal(await answer(guest), 'chain 2')
  })
})

describe('enrolments at once', () => {
  test('[ENR-14] by one token: one succeeds, and the CA is asked once', async () => {
    const guest = await invite()
    const release = authority.hold()
    const all = [answer(guest), answer(guest), answer({ ...guest, role: 'other' })]
    await authority.untilAsked(1)
    release()
    assert.deepEqual((await Promise.all(all)).toSorted(), [
      'chain 1',
      'token_consumed',
      'token_consumed',
    ])
    assert.equal(authority.asked.length, 1)
  })

  test('[ENR-14] by one token share a failure of the CA, but for those that it would not have been asked for', async () => {
    const guest = await invite()
    const release = authority.hold()
    authority.failWith(new CaError('timeout', 'no answer'))
    const first = answer(guest)
    await authority.untilAsked(1)
    const others = [
      answer(guest),
      answer({ ...guest, role: 'other' }),
      answer({ ...guest, csr_pem: '' }),
    ]
    release()
    assert.deepEqual(await Promise.all([first, ...others]), [
      'ca_failed',
      'ca_failed',
      'role_mismatch',
      'csr_invalid',
    ])
    assert.equal(authority.asked.length, 1)
    authority.failWith(undefined)
    assert.equal(await answer(guest), 'chain 2')
  })

  test('[ENR-14] by one token, of which the first is refused: the good one is not refused with it', async () => {
    const guest = await invite()
    const both = [answer({ ...guest, role: 'other' }), answer(guest)]
    assert.deepEqual(await Promise.all(both), ['role_mismatch', 'chain 1'])
  })

  test('[TOK-7] [TOK-8] with the revocation of the token: a mismatch counts for nothing', async () => {
    const guest = await invite()
    const token = await store.reader.findToken(hashToken(guest.token))
    assert.ok(token)
    const revoked = store.write((writer) => writer.updateToken(endToken(token, NOW)))
    assert.equal(await answer({ ...guest, role: 'other' }), 'role_mismatch')
    await revoked
    assert.equal((await guest.find())?.mismatches, 0)
  })

  test('[ENR-8] [ENR-15] by two tokens of one host: the one that is written down first is the agent', async () => {
    const one = await invite()
    const other = await invite({ expectedHostname: one.hostname as Hostname })
    const release = authority.hold()
    const both = [answer(one), answer(other)]
    await authority.untilAsked(2)
    release()
    const [loser, winner] = (await Promise.all(both)).toSorted()
    assert.equal(loser, 'agent_already_enrolled')
    assert.match(winner ?? '', /^chain [12]$/)
  })
})

describe('enrolments at several hubs', () => {
  test('[HUB-9] by one token: the CA is asked once, also when the other hub was done before this one has its turn', async () => {
    const guest = await invite()
    const turn = createGate()
    const waiting = createGate()
    const slow: Store = {
      reader: store.reader,
      get version() {
        return store.version
      },
      versionOf: (id) => store.versionOf(id),
      write: async (work, company) => {
        waiting.open()
        await turn.opened
        return await store.write(work, company)
      },
      close: () => Promise.resolve(),
    }
    const late = createOn(slow)(guest, undefined)
    await waiting.opened
    assert.equal(await answer(guest), 'chain 1')
    turn.open()
    assert.deepEqual(await late, { ok: false, refusal: 'token_consumed' })
    assert.equal(authority.asked.length, 1)
  })
})

describe('an enrolment that is asked for again with its Idempotency-Key', () => {
  test('[ENR-17] is answered as it was, until a day after its use; anything else is token_consumed', async () => {
    const guest = await invite()
    assert.equal(await answer(guest, 'key'), 'chain 1')
    assert.equal(await answer(guest, 'key'), 'chain 1')
    assert.equal(authority.asked.length, 1)
    assert.deepEqual(announced.length, 1)
    const recipient = `age1pq1${'q'.repeat(1952)}`
    for (const [request, key] of [
      [guest, undefined],
      [guest, 'other'],
      [{ ...guest, csr_pem: makeCsrPem('other') }, 'key'],
      [{ ...guest, csr_pem: 'none' }, 'key'],
      [{ ...guest, recipient }, 'key'],
    ] as const) {
      assert.equal(await answer(request, key), 'token_consumed')
    }
    clock.pass(DAY_MS - 1)
    assert.equal(await answer(guest, 'key'), 'chain 1')
    clock.pass(1)
    assert.equal(await answer(guest, 'key'), 'token_consumed')
  })

  test('[ENR-17] is answered as it was for as long as the token would have lived', async () => {
    const guest = await invite({ expiresAt: new Date(NOW.getTime() + 2 * DAY_MS) })
    await answer(guest, 'key')
    clock.pass(2 * DAY_MS - 1)
    assert.equal(await answer(guest, 'key'), 'chain 1')
    clock.pass(1)
    assert.equal(await answer(guest, 'key'), 'token_consumed')
  })

  test('[ENR-17] is token_consumed once the agent is revoked, or the host enrolled again', async () => {
    const guest = await invite()
    await answer(guest, 'key')
    const agent = await store.reader.findAgentByHostname(guest.hostname)
    assert.ok(agent)
    await store.write((writer) => writer.updateAgent({ ...agent, revokedAt: NOW }))
    assert.equal(await answer(guest, 'key'), 'token_consumed')
    const again = { expectedHostname: agent.hostname, isReenrollment: true }
    assert.equal(await answer(await invite(again)), 'chain 2')
    assert.equal(await answer(guest, 'key'), 'token_consumed')
  })
})

describe('a host that is enrolled already', () => {
  test('[POL-17] [ENR-8] comes back by the token of an operator only while the politicas of its role leave it to operators', async () => {
    const host = await invite()
    await answer(host)
    const token = { expectedHostname: host.hostname as Hostname, isReenrollment: true }
    const guest = await invite({ ...token, isOperators: true })
    assert.equal(await answer(guest), 'agent_already_enrolled')
    assert.equal(await answer(await invite(token)), 'chain 2')
  })
})
