// Enrolments by the token of a workload's platform: docs/protocol.md JNR-17 to JNR-22.

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { createFakeAuthority, type FakeAuthority } from '../../../../test/fakes/fake-authority.ts'
import {
  type FakeIssuer,
  keySetOf,
  makeKey,
  type SigningKey,
  signToken,
  startIssuer,
} from '../../../../test/fakes/issuer.ts'
import { NOW } from '../../../../test/store/store-samples.ts'
import { collectLog, type LoggedLine } from '../../../../test/support/collected-log.ts'
import { makeCsrPem } from '../../../../test/support/made-csr.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { createSettableClock, type SettableClock } from '../../../../test/support/settable-clock.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { openAdmin } from '../../../../test/support/told-admin.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import type { EnrollRequestBody } from '../../../protocol/schemas.ts'
import { CaError } from '../../ca/certificate-authority.ts'
import { createAddressLookup } from '../../outbound/address-lookup.ts'
import { createGetText } from '../../outbound/get-text.ts'
import { createIssuerKeys } from '../../outbound/issuer-keys.ts'
import type { Store } from '../../store/store.ts'
import { createEnrollAgent, type EnrollAgent } from './enroll-agent.ts'

const CSR = makeCsrPem('any')
const SECOND_MS = 1000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const REPOSITORY = 'repo:acme/infra:ref:refs/heads/main'
const getText = createGetText(createAddressLookup(), () => [], '0.0.0')

let store: Store & AsyncDisposable
let issuer: FakeIssuer
let clock: SettableClock
let authority: FakeAuthority
let lines: LoggedLine[]
let enrollAgent: EnrollAgent
let count = 0

before(async () => {
  store = await openTemporaryStore()
})
after(() => store[Symbol.asyncDispose]())
afterEach(() => issuer[Symbol.asyncDispose]())
beforeEach(async () => {
  count += 1
  issuer = await startIssuer()
  clock = createSettableClock(NOW)
  authority = createFakeAuthority(clock)
  const collected = collectLog()
  ;({ lines } = collected)
  const keys = createIssuerKeys(getText, clock)
  const hubNames = ['hub.example.org']
  enrollAgent = createEnrollAgent({ keys, store, authority, clock, log: collected.log, hubNames })
})

type Wanted = NonNullable<AdminRequest<'createJoinRule'>['jwt']>

/** For hosts of a domain of this test. */
async function makeRule(
  jwt: Partial<Wanted> = {},
  changes: Partial<AdminRequest<'createJoinRule'>> = {},
) {
  const claims = [{ claim: 'sub', values: ['repo:acme/infra:*'] }]
  return openAdmin(store).admin.createJoinRule({
    name: `rule-${count}`,
    method: 'jwt',
    jwt: { issuer: issuer.url, audience: 'cartorio', claims, ...jwt },
    pattern: `ci-*.d${count}.example.org`,
    role: 'ci',
    hosts_max: 3,
    ...changes,
  })
}

const secondsFromNow = (ms: number): number => Math.floor((clock.now().getTime() + ms) / 1000)

function makeToken(
  claims: object = {},
  { key = issuer.keys[0], header = {} }: { key?: SigningKey | undefined; header?: object } = {},
): string {
  return signToken({
    key: key ?? assert.fail('the issuer has a key'),
    header,
    claims: {
      iss: issuer.url,
      aud: 'cartorio',
      sub: REPOSITORY,
      exp: secondsFromNow(5 * MINUTE_MS),
      jti: `jti-${Math.random()}`,
      ...claims,
    },
  })
}

async function ask(token: string, host = 'ci-1', changes: Partial<EnrollRequestBody> = {}) {
  const hostname = `${host}.d${count}.example.org`
  const request = { token, hostname, role: 'ci', csr_pem: CSR, ...changes }
  const outcome = await enrollAgent(request, `an-idempotency-key-of-${hostname}`)
  return outcome.ok ? outcome.certificatePem : outcome.refusal
}

const reasons = (): unknown[] =>
  lines.filter(({ message }) => message === 'Join refused').map(({ fields }) => fields['reason'])

describe('[JNR-17] [JNR-18] a host with the token of its platform', () => {
  test('enrols, and the log names the rule and whose token it was', async () => {
    const rule = await makeRule()
    assert.equal(rule.token, undefined)
    assert.match(rule.agent_command, /SVC_ENROLL_TOKEN_FILE=\/path\/to\/token svc-agent enroll$/)
    const seq = await lastSeq(store.reader)
    assert.equal(await ask(makeToken()), 'chain 1')
    const acts = await readActs(store.reader, seq)
    const [said] = acts.flatMap(([type, payload]) => (type === 'agent_enrolled' ? [payload] : []))
    const { join_rule, issuer: by, subject, role } = said as Record<string, unknown>
    assert.deepEqual([join_rule, by, subject, role], [rule.name, issuer.url, REPOSITORY, 'ci'])
    assert.deepEqual(issuer.asked, ['/.well-known/openid-configuration', '/keys'])
    assert.equal((await store.reader.findJoinRuleNamed(rule.name))?.hosts, 1)
  })

  test('[JNR-21] uses it for one name; what failed at the CA, or was lost, is asked again', async () => {
    await makeRule()
    const token = makeToken()
    authority.failWith(new CaError('unreachable', 'no answer'))
    assert.equal(await ask(token), 'ca_failed')
    authority.failWith(undefined)
    assert.equal(await ask(token, 'ci-2'), 'token_consumed')
    assert.equal(await ask(token), 'chain 2')
    assert.equal(await ask(token), 'chain 2')
    assert.equal(await ask(token, 'ci-3'), 'token_consumed')
    assert.deepEqual(reasons(), ['used'])
    assert.equal(await ask(makeToken(), 'ci-3'), 'chain 3')
  })

  test('[JNR-21] without a jti the token itself is the one use', async () => {
    await makeRule()
    const token = makeToken({ jti: undefined })
    assert.equal(await ask(token), 'chain 1')
    assert.equal(await ask(token, 'ci-2'), 'token_consumed')
  })

  test('[JNR-21] without a jti it is the same token when its signature is written another way', async () => {
    await makeRule()
    const token = makeToken({ jti: undefined })
    assert.equal(await ask(token), 'chain 1')
    // The last letter of 256 bytes has four bits that nobody reads.
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const other = alphabet[alphabet.indexOf(token.at(-1) ?? '') ^ 1]
    assert.equal(await ask(`${token.slice(0, -1)}${other}`, 'ci-2'), 'token_consumed')
  })

  test('[JNR-21] stays used for as long as it counts, by the clock of any hub', async () => {
    await makeRule({}, { hosts_max: 9 })
    const token = makeToken({ exp: secondsFromNow(30 * SECOND_MS) })
    assert.equal(await ask(token), 'chain 1')
    clock.set(new Date(NOW.getTime() + 60 * SECOND_MS))
    assert.equal(await ask(makeToken(), 'ci-2'), 'chain 2')
    assert.equal(await ask(token, 'ci-3'), 'token_consumed')
    clock.set(new Date(NOW.getTime() + HOUR_MS))
    assert.equal(await ask(makeToken(), 'ci-3'), 'chain 3')
    clock.set(NOW)
    assert.equal(await ask(token, 'ci-4'), 'token_consumed')
  })

  test('[JNR-18] has a rule that lets it in, of several that take it, and the same when it asks again', async () => {
    await makeRule()
    const token = makeToken()
    assert.equal(await ask(token), 'chain 1')
    await makeRule({}, { name: `full-${count}`, hosts_max: 1 })
    assert.equal(await ask(token), 'chain 1')
    assert.equal(await ask(makeToken(), 'ci-2'), 'chain 2')
    assert.equal(await ask(makeToken(), 'ci-3'), 'chain 3')
    await makeRule({}, { name: `db-${count}`, pattern: `db-*.d${count}.example.org` })
    assert.equal(await ask(makeToken(), 'ci-4'), 'chain 4')
    assert.equal(await ask(makeToken(), 'db-1'), 'chain 5')
  })

  test('[JNR-21] is answered again also when its rule has ended since', async () => {
    const { name } = await makeRule()
    const token = makeToken()
    assert.equal(await ask(token), 'chain 1')
    await openAdmin(store).admin.endJoinRule({ join_rule: name })
    assert.equal(await ask(token), 'chain 1')
    assert.equal(await ask(token, 'ci-2'), 'token_expired')
    assert.equal(await ask(makeToken()), 'token_not_found')
  })

  test('may have its name said by a claim, in full or its first label', async () => {
    await makeRule({ hostname_claim: '/google/compute_engine/instance_name' })
    const of = (instance_name: string) =>
      makeToken({ google: { compute_engine: { instance_name } } })
    assert.equal(await ask(of('ci-1')), 'chain 1')
    assert.equal(await ask(of(`ci-2.d${count}.example.org`), 'ci-2'), 'chain 2')
    assert.equal(await ask(of('ci-1'), 'ci-3'), 'hostname_mismatch')
    assert.equal(await ask(makeToken(), 'ci-3'), 'hostname_mismatch')
  })

  test('has the rule of its role, of several that take the same tokens', async () => {
    await makeRule()
    await makeRule({}, { name: `other-${count}`, role: 'deploy' })
    assert.equal(await ask(makeToken()), 'chain 1')
    assert.equal(await ask(makeToken(), 'ci-2', { role: 'deploy' }), 'chain 2')
    assert.equal(await ask(makeToken(), 'ci-3', { role: 'db' }), 'role_mismatch')
  })

  test('[JNR-22] is told by the rule that goes furthest why none lets it in', async () => {
    await makeRule({ hostname_claim: 'host' })
    await makeRule({ claims: [{ claim: 'sub', values: ['other'] }] }, { name: `sub-${count}` })
    assert.equal(await ask(makeToken({ host: 'ci-9' })), 'hostname_mismatch')
    assert.deepEqual(reasons(), ['hostname_claim'])
  })

  test('[JNR-20] may be let in once its issuer is back, whatever the keys of another rule say', async () => {
    await makeRule()
    await makeRule({ jwks: JSON.stringify(keySetOf([makeKey()])) }, { name: `own-${count}` })
    issuer.answer = () => ({ status: 500, body: '' })
    assert.equal(await ask(makeToken()), 'unavailable')
    assert.deepEqual(reasons(), [])
  })

  test('is let in by keys that the rule has itself, and nobody is asked', async () => {
    const key = makeKey()
    await makeRule({
      issuer: 'https://kubernetes.default.svc',
      jwks: JSON.stringify(keySetOf([key])),
    })
    assert.equal(
      await ask(makeToken({ iss: 'https://kubernetes.default.svc' }, { key })),
      'chain 1',
    )
    assert.deepEqual(issuer.asked, [])
  })
})

describe('[JNR-19] [JNR-22] of every way to cheat', () => {
  const other = makeKey()
  const unsigned = (header: object, body: object, signature = ''): string => {
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    return `${encode(header)}.${encode(body)}.${signature}`
  }
  const body = () => ({
    iss: issuer.url,
    aud: 'cartorio',
    sub: REPOSITORY,
    exp: secondsFromNow(MINUTE_MS),
    jti: 'x',
  })
  const cut = (token: string, change: (claims: object) => object): string => {
    const [head, claims = '', signature] = token.split('.')
    const said = JSON.parse(Buffer.from(claims, 'base64url').toString()) as object
    const changed = Buffer.from(JSON.stringify(change(said))).toString('base64url')
    return `${head}.${changed}.${signature}`
  }
  const cheats: [how: string, token: () => string, refusal: string, reason: string | undefined][] =
    [
      [
        'another issuer',
        () => makeToken({ iss: 'https://evil.example' }),
        'token_not_found',
        undefined,
      ],
      [
        'the issuer with a slash',
        () => makeToken({ iss: `${issuer.url}/` }),
        'token_not_found',
        undefined,
      ],
      ['no issuer', () => makeToken({ iss: undefined }), 'token_not_found', undefined],
      ['another audience', () => makeToken({ aud: 'vault' }), 'token_not_found', 'audience'],
      ['no audience', () => makeToken({ aud: undefined }), 'token_not_found', 'audience'],
      [
        'an audience that contains it',
        () => makeToken({ aud: 'cartorio2' }),
        'token_not_found',
        'audience',
      ],
      [
        'an end that is over',
        () => makeToken({ exp: secondsFromNow(-61 * SECOND_MS) }),
        'token_expired',
        'lifetime',
      ],
      ['no end', () => makeToken({ exp: undefined }), 'token_not_found', undefined],
      ['an end as text', () => makeToken({ exp: '9999999999' }), 'token_not_found', undefined],
      [
        'an end in a year',
        () => makeToken({ exp: secondsFromNow(365 * 24 * HOUR_MS) }),
        'token_expired',
        'lifetime',
      ],
      [
        'a beginning to come',
        () => makeToken({ nbf: secondsFromNow(2 * MINUTE_MS) }),
        'token_expired',
        'lifetime',
      ],
      [
        'another repository',
        () => makeToken({ sub: 'repo:evil/infra:ref:x' }),
        'token_not_found',
        'claim',
      ],
      [
        'a repository that begins as it',
        () => makeToken({ sub: 'repo:acme/infra2:ref:x' }),
        'token_not_found',
        'claim',
      ],
      ['no subject', () => makeToken({ sub: undefined }), 'token_not_found', 'claim'],
      [
        'a subject of another type',
        () => makeToken({ sub: { 0: REPOSITORY } }),
        'token_not_found',
        'claim',
      ],
      [
        'a key of somebody else',
        () => makeToken({}, { key: other }),
        'token_not_found',
        'signature',
      ],
      [
        'that under the name of the real one',
        () => makeToken({}, { key: { ...other, kid: issuer.keys[0]?.kid ?? '' } }),
        'token_not_found',
        'signature',
      ],
      [
        'claims that were changed',
        () => cut(makeToken({ sub: 'repo:evil/x:y' }), (said) => ({ ...said, sub: REPOSITORY })),
        'token_not_found',
        'signature',
      ],
      [
        'no signature (alg none)',
        () => unsigned({ alg: 'none' }, body(), 'AA'),
        'token_not_found',
        'signature',
      ],
      [
        'the public key as a secret (HS256)',
        () => {
          const { publicPem, kid } = publicOf(issuer)
          const input = unsigned({ alg: 'HS256', kid }, body()).slice(0, -1)
          return `${input}.${createHmac('sha256', publicPem).update(input).digest('base64url')}`
        },
        'token_not_found',
        'signature',
      ],
      [
        'a key in its header (jwk)',
        () => makeToken({}, { key: other, header: { jwk: keySetOf([other]).keys[0] } }),
        'token_not_found',
        'signature',
      ],
      [
        'a place of keys in its header (jku)',
        () => makeToken({}, { key: other, header: { jku: 'http://127.0.0.1:1/keys' } }),
        'token_not_found',
        'signature',
      ],
      ['another name', () => makeToken(), 'hostname_mismatch', 'hostname'],
      [
        'more than 8 KiB',
        () => makeToken({ filler: 'x'.repeat(9000) }),
        'token_not_found',
        undefined,
      ],
      ['text that is no token', () => 'eyJhbGciOiJSUzI1NiJ9.e30.AA', 'token_not_found', undefined],
    ]
  for (const [how, token, refusal, reason] of cheats) {
    test(`${how} is refused as ${refusal}, named ${reason ?? 'by nothing'}`, async () => {
      await makeRule()
      assert.equal(await ask(token(), how === 'another name' ? 'db-1' : 'ci-1'), refusal)
      assert.deepEqual(reasons(), reason === undefined ? [] : [reason])
      assert.equal(authority.asked.length, 0)
    })
  }

  test('the clock of the issuer may be a minute off', async () => {
    await makeRule()
    const nbf = secondsFromNow(50 * SECOND_MS)
    assert.equal(await ask(makeToken({ nbf, exp: secondsFromNow(HOUR_MS) })), 'chain 1')
    assert.equal(await ask(makeToken({ exp: secondsFromNow(-50 * SECOND_MS) }), 'ci-2'), 'chain 2')
  })
})

function publicOf({ keys: [key] }: FakeIssuer): { publicPem: string; kid: string } {
  const { privateKey, kid } = key ?? assert.fail('a key')
  const [jwk] = keySetOf([{ privateKey, kid }]).keys
  return { publicPem: JSON.stringify(jwk), kid }
}
