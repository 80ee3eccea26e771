// Confirmations at the admin port, over TLS, by an authenticator that behaves and one that does not: docs/protocol.md PKY.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  encode,
  awaitRefusal,
  openConfirmingConsole,
  PasskeyPerson,
  payloadsOf,
  POLICY,
} from '../../test/support/confirming-console.ts'
import {
  assertRefusal,
  CONSOLE_ORIGIN,
  openDoors,
  signIn,
  UNLIMITED,
} from '../../test/support/console-page.ts'
import { createSettableClock } from '../../test/support/settable-clock.ts'
import { type Quirks, SoftwareAuthenticator } from '../../test/support/software-authenticator.ts'
import { openSharingStores } from '../../test/support/temporary-store.ts'
import { openAdmin } from '../../test/support/told-admin.ts'
import { NOW } from '../../test/store/store-samples.ts'
import { Secret } from '../platform/secret.ts'
import { createConfirmations } from './service/admin/passkeys/confirmations.ts'
import type { Store } from './store/store.ts'

const MINUTE_MS = 60_000

describe('a confirmation', () => {
  test('[PKY-7] [ERR-63] by an authenticator that misbehaves is refused, and nothing is done', async () => {
    await using hub = await openConfirmingConsole()
    const ana = await hub.enter('ana')
    await ana.register()
    assert.equal((await ana.confirmed(POLICY.path, { role: 'first' }, { counter: 5 })).status, 200)
    const wrong: readonly Quirks[] = [
      { origin: 'https://hub.test' },
      { origin: 'https://hub.test:8445.evil.example' },
      { origin: 'http://hub.test:8445' },
      { rpId: 'evil.example' },
      { rpId: 'test' },
      { type: 'webauthn.create' },
      { crossOrigin: true },
      { challenge: 'AAAA' },
      { challenge: '' },
      { isVerified: false },
      { isPresent: false },
      { counter: 5 },
      { counter: 4 },
      { counter: 0 },
      { signer: new SoftwareAuthenticator() },
      { id: new SoftwareAuthenticator().id },
    ]
    for (const quirks of wrong) {
      const reply = await ana.confirmed(POLICY.path, { role: 'web' }, { counter: 6, ...quirks })
      assertRefusal(reply, 403, 'confirmation_refused')
    }
    const set = await payloadsOf(hub.store, 'politica_set')
    assert.deepEqual(
      set.map(({ role }) => role),
      ['first'],
    )
    assert.equal((await ana.confirmed(POLICY.path, { role: 'web' }, { counter: 6 })).status, 200)
  })

  test('[PKY-5] [PKY-7] is good for this very request: not for another body, path, query, method or session', async () => {
    await using hub = await openConfirmingConsole()
    const ana = await hub.enter('ana')
    await ana.register()
    const withConfirmation = (sent: { path: string; body: string }, confirmation: string) => ({
      ...sent,
      headers: { 'cartorio-confirmation': confirmation },
    })
    for (const sent of [
      { ...POLICY, body: '{"role":"web","token_ttl_max":601}' },
      { ...POLICY, body: `${POLICY.body} ` },
      { ...POLICY, path: `${POLICY.path}?` },
      { ...POLICY, path: `${POLICY.path}?a=b` },
      { path: '/v1/admin/politicas/where', body: '{"nome":"web","where":"env=a"}' },
    ]) {
      const confirmation = await ana.confirm(POLICY)
      assertRefusal(
        await ana.send(withConfirmation(sent, confirmation)),
        403,
        'confirmation_refused',
      )
    }
    const other = new PasskeyPerson(hub.target, await signIn(hub.target, ana.token))
    const sent = withConfirmation(POLICY, await ana.confirm(POLICY))
    assertRefusal(await other.send(sent), 403, 'confirmation_refused')
    assert.equal((await ana.send(sent)).status, 200)
  })

  test('[PKY-8] is good once, within two minutes, and an unused one that is older than a used one is not', async () => {
    await using hub = await openConfirmingConsole()
    const ana = await hub.enter('ana')
    await ana.register()
    const early = await ana.confirm(POLICY)
    hub.clock.pass(1000)
    const used = await ana.confirm(POLICY)
    const sendWith = (confirmation: string) =>
      ana.send({ ...POLICY, headers: { 'cartorio-confirmation': confirmation } })
    const both = await Promise.all([used, used].map(sendWith))
    assert.deepEqual(
      both.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 403],
    )
    assertRefusal(await sendWith(used), 403, 'confirmation_refused')
    assertRefusal(await sendWith(early), 403, 'confirmation_refused')
    hub.clock.pass(1000)
    const late = await ana.confirm(POLICY)
    hub.clock.pass(120_000)
    assertRefusal(await sendWith(late), 403, 'confirmation_refused')
    hub.clock.pass(-1)
    assert.equal((await sendWith(late)).status, 200, 'nothing but its end was wrong with it')
    // A clock that is set back keeps nobody out who signs in again (SES-6).
    hub.clock.pass(-60 * MINUTE_MS)
    Object.assign(ana, { page: await signIn(hub.target, ana.token) })
    assert.equal((await ana.confirmed(POLICY.path, { role: 'db' })).status, 200)
  })

  test('[PKY-7] that is garbage, huge or without end is refused before anything is verified', async () => {
    await using hub = await openConfirmingConsole()
    const ana = await hub.enter('ana')
    await ana.register()
    const whole = JSON.parse(Buffer.from(await ana.confirm(POLICY), 'base64url').toString()) as {
      response: object
    }
    const texts = [
      'no base64url!',
      '',
      'AAAA',
      'A'.repeat(6145),
      encode([]),
      encode({}),
      encode({ ...whole, id: 7 }),
      encode({ ...whole, response: null }),
      encode({ ...whole, response: { ...whole.response, clientDataJSON: 'bnVsbA' } }),
      encode({ ...whole, response: { ...whole.response, authenticatorData: '' } }),
      encode({ ...whole, response: { ...whole.response, authenticatorData: '!' } }),
      encode({ ...whole, response: { ...whole.response, signature: '' } }),
      encode({ ...whole, rawId: 'other' }),
      encode({ ...whole, type: 'password' }),
      encode({ ...whole, more: 'x'.repeat(5000) }),
    ]
    for (const text of texts) {
      const reply = await ana.send({ ...POLICY, headers: { 'cartorio-confirmation': text } })
      assertRefusal(reply, 403, 'confirmation_refused')
    }
    const headers = { 'cartorio-confirmation': encode(whole) }
    assert.equal((await ana.send({ ...POLICY, headers })).status, 200, 'as it was made')
    const { actor, reason, operation } = await awaitRefusal(hub.store)
    assert.deepEqual([actor, reason, operation], ['token:ana', 'confirmation_refused', 'setPolicy'])
  })

  test('[PKY-11] a session may try 30 in a minute', async () => {
    await using hub = await openConfirmingConsole()
    const ana = await hub.enter('ana')
    await ana.register()
    const codes = new Map<unknown, number>()
    for (let at = 0; at < 31; at += 1) {
      const { json } = await ana.send({ ...POLICY, headers: { 'cartorio-confirmation': 'AAAA' } })
      codes.set(json['error'], (codes.get(json['error']) ?? 0) + 1)
    }
    assert.deepEqual(
      [...codes],
      [
        ['confirmation_refused', 30],
        ['rate_limited', 1],
      ],
    )
    const other = await hub.enter('bob')
    await other.register()
    assert.equal((await other.confirmed(POLICY.path, { role: 'web' })).status, 200)
  })

  test('[PKY-4] If-Match and Idempotency-Key work as without it', async () => {
    await using hub = await openConfirmingConsole()
    const ana = await hub.enter('ana')
    await ana.register()
    const set = await ana.confirmed(POLICY.path, { role: 'web' })
    const tag = String(set.headers['etag'])
    const confirmation = await ana.confirm(POLICY)
    const matched = { 'cartorio-confirmation': confirmation, 'if-match': tag }
    assert.equal((await ana.send({ ...POLICY, headers: matched })).status, 200)
    const again = { 'cartorio-confirmation': await ana.confirm(POLICY), 'if-match': tag }
    assertRefusal(await ana.send({ ...POLICY, headers: again }), 412, 'politica_changed')
    const token = { path: '/v1/admin/admin-tokens', body: '{"name":"grafana","role":"viewer"}' }
    const made = []
    for (let at = 0; at < 2; at += 1) {
      const headers = {
        'cartorio-confirmation': await ana.confirm(token),
        'idempotency-key': '0123456789abcdef',
      }
      made.push((await ana.send({ ...token, headers })).json['token'])
    }
    assert.match(String(made[0]), /^svca_/)
    assert.equal(made[0], made[1])
  })

  test('[PKY-8] of hubs that share a vault the challenge of one is good at another, once at both', async () => {
    await using stack = new AsyncDisposableStack()
    const { all } = stack.use(await openSharingStores(2))
    const [first, second] = all
    assert.ok(first !== undefined && second !== undefined)
    const clock = createSettableClock(NOW)
    const { admin } = openAdmin(first, { clock })
    const party = { id: 'hub.test', origin: CONSOLE_ORIGIN }
    const confirmations = createConfirmations(party, new Secret(Buffer.alloc(32, 7)))
    const open = async (store: Store) =>
      stack.use(await openDoors(store, clock, { limits: UNLIMITED, confirmations })).target
    const [one, two] = [await open(first), await open(second)]
    const { token } = await admin.createAccessToken({ name: 'ana', role: 'admin' })
    const page = await signIn(one, token)
    const ana = new PasskeyPerson(one, page)
    assert.equal((await ana.register()).status, 200)
    await second.follow()
    const confirmation = await ana.confirm(POLICY)
    const atOther = new PasskeyPerson(two, page)
    const sent = { ...POLICY, headers: { 'cartorio-confirmation': confirmation } }
    const done = await atOther.send(sent)
    assert.equal(done.status, 200, done.text)
    await first.follow()
    assertRefusal(await ana.send(sent), 403, 'confirmation_refused')
  })
})
