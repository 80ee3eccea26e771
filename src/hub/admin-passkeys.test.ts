// Passkeys at the admin port, over TLS: registered, listed and removed, also by an authenticator that misbehaves. docs/protocol.md PKY.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  CONFIRMATIONS,
  awaitRefusal,
  openConfirmingConsole,
  PasskeyPerson,
  PASSKEYS,
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
import {
  type RegistrationQuirks,
  SoftwareAuthenticator,
} from '../../test/support/software-authenticator.ts'
import { openTemporaryStore } from '../../test/support/temporary-store.ts'
import { openAdmin } from '../../test/support/told-admin.ts'
import { send } from '../../test/support/wire-client.ts'
import { insertAgent, NOW } from '../../test/store/store-samples.ts'
import { Secret } from '../platform/secret.ts'
import { passkeyIdOf } from './domain/passkey.ts'
import { createConfirmations } from './service/admin/passkeys/confirmations.ts'
import type { Store, StoreReader } from './store/store.ts'

const MINUTE_MS = 60_000
const REVOKE = '/v1/admin/agentes/revoke'

describe('a passkey', () => {
  for (const kind of ['ES256', 'EdDSA', 'RS256'] as const) {
    test(`[PKY-3] [PKY-9] of ${kind} is registered, and confirms: the log says by which`, async () => {
      await using hub = await openConfirmingConsole()
      await insertAgent(hub.store, 'web-1')
      const ana = await hub.enter('ana', 'operator', kind)
      const registered = await ana.register()
      assert.equal(registered.status, 200, registered.text)
      const id = passkeyIdOf({ credentialId: ana.authenticator.id })
      assert.deepEqual(registered.json, {
        id,
        name: 'ana',
        label: 'YubiKey 5',
        created_at: NOW.toISOString(),
        last_used_at: null,
      })
      const revoke = { path: REVOKE, body: '{"agente":"web-1"}' }
      assertRefusal(await ana.send(revoke), 403, 'confirmation_needed')
      hub.clock.pass(MINUTE_MS)
      const done = await ana.confirmed(REVOKE, { agente: 'web-1' })
      assert.equal(done.status, 200, done.text)
      const [revoked] = await payloadsOf(hub.store, 'agent_revoked')
      const { actor, confirmed_by: by, hostname } = revoked ?? {}
      assert.deepEqual([actor, by, hostname], ['token:ana', id, 'web-1'])
      const [made] = await payloadsOf(hub.store, 'passkey_registered')
      assert.deepEqual(made, {
        actor: 'token:ana',
        passkey_id: id,
        name: 'ana',
        label: 'YubiKey 5',
      })
      const { json } = await ana.ask(PASSKEYS)
      const [shown] = json['passkeys'] as { last_used_at: string }[]
      assert.equal(shown?.last_used_at, hub.clock.now().toISOString())
    })
  }

  test('[PKY-1] [PKY-4] is not asked of tokens and the socket, nor of a rehearsal, nor for what is harmless', async () => {
    await using hub = await openConfirmingConsole()
    const text = await hub.makeToken('ci', 'admin')
    const byToken = await send(hub.target, {
      method: 'POST',
      ...POLICY,
      headers: { authorization: `Bearer ${text}`, 'content-type': 'application/json' },
    })
    assert.equal(byToken.status, 200, byToken.text)
    const ana = await hub.enter('ana')
    assert.equal((await ana.ask(POLICY.path, { role: 'db', dry_run: true })).status, 200)
    const token = { hostname: 'web-2', role: 'web' }
    assert.equal((await ana.ask('/v1/admin/tokens', token)).status, 200)
  })

  test('[PKY-4] [ERR-62] is asked after the role and the form, and counts as no refusal', async () => {
    await using hub = await openConfirmingConsole()
    const bob = await hub.enter('bob', 'operator')
    assertRefusal(await bob.send(POLICY), 403, 'role_insufficient')
    const ana = await hub.enter('ana')
    assertRefusal(await ana.ask(POLICY.path, { role: 7 }), 400, 'request_invalid')
    assertRefusal(await ana.send(POLICY), 403, 'confirmation_needed')
    hub.clock.pass(10 * MINUTE_MS)
    await awaitRefusal(hub.store)
    const refused = await payloadsOf(hub.store, 'admin_refused')
    assert.deepEqual(
      refused.map(({ reason }) => reason),
      ['role_insufficient'],
    )
  })

  test('[PKY-3] the first one is registered within five minutes after signing in, and not by a session that lay open', async () => {
    await using hub = await openConfirmingConsole()
    const ana = await hub.enter('ana')
    hub.clock.pass(5 * MINUTE_MS + 1)
    assertRefusal(await ana.ask(`${PASSKEYS}/prepare`, {}), 403, 'passkey_late')
    assert.equal((await ana.ask(PASSKEYS)).json['registration'], 'late')
    assertRefusal(
      await ana.ask(CONFIRMATIONS, { request_sha256: '0'.repeat(64) }),
      409,
      'passkey_missing',
    )
    const again = await hub.enter('bob')
    const credential = await again.makeCredential()
    hub.clock.pass(5 * MINUTE_MS + 1)
    assertRefusal(await again.ask(PASSKEYS, { label: 'late', credential }), 400, 'passkey_invalid')
  })

  test('[PKY-3] a second one needs the first, at most ten are there, and none twice', async () => {
    await using hub = await openConfirmingConsole()
    const ana = await hub.enter('ana')
    await ana.register()
    const other = new SoftwareAuthenticator()
    const credential = await ana.makeCredential({}, other)
    const request = { label: 'spare', credential }
    assertRefusal(await ana.ask(PASSKEYS, request), 403, 'confirmation_needed')
    const done = await ana.confirmed(PASSKEYS, request)
    assert.equal(done.status, 200, done.text)
    assertRefusal(await ana.confirmed(PASSKEYS, request), 409, 'passkey_exists')
    const [, second] = await payloadsOf(hub.store, 'passkey_registered')
    assert.equal(second?.['confirmed_by'], passkeyIdOf({ credentialId: ana.authenticator.id }))
    for (let at = 2; at < 10; at += 1) {
      const made = await ana.makeCredential({}, new SoftwareAuthenticator())
      const more = await ana.confirmed(PASSKEYS, { label: `${at}`, credential: made })
      assert.equal(more.status, 200, more.text)
    }
    assertRefusal(await ana.ask(`${PASSKEYS}/prepare`, {}), 409, 'passkeys_too_many')
    assert.equal((await ana.ask(PASSKEYS)).json['registration'], 'full')
  })

  test('[PKY-3] of two first ones that come at once, one is the first', async () => {
    await using hub = await openConfirmingConsole()
    const ana = await hub.enter('ana')
    const made = await Promise.all(
      [1, 2].map(() => ana.makeCredential({}, new SoftwareAuthenticator())),
    )
    const replies = await Promise.all(
      made.map((credential) => ana.ask(PASSKEYS, { label: 'first', credential })),
    )
    assert.deepEqual(
      replies.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 403],
    )
    assert.equal((await hub.store.reader.passkeys.list()).length, 1)
  })

  test('[PKY-3] one that was the first when it was asked for is none when another is kept before it', async () => {
    await using stack = new AsyncDisposableStack()
    const store = stack.use(await openTemporaryStore())
    // As a hub that another one of the vault has passed in the meantime: its commit alone sees the first.
    const passkeys = Object.create(store.reader.passkeys, { listOf: { value: async () => [] } })
    const reader: StoreReader = Object.create(store.reader, { passkeys: { value: passkeys } })
    const late: Store = { ...store, reader, write: (work) => store.write(work) }
    const clock = createSettableClock(NOW)
    const confirmations = createConfirmations(
      { id: 'hub.test', origin: CONSOLE_ORIGIN },
      new Secret(Buffer.alloc(32, 7)),
    )
    const { target } = stack.use(await openDoors(late, clock, { limits: UNLIMITED, confirmations }))
    const { token } = await openAdmin(store, { clock }).admin.createAccessToken({
      name: 'ana',
      role: 'admin',
    })
    const ana = new PasskeyPerson(target, await signIn(target, token))
    assert.equal((await ana.register()).status, 200)
    const credential = await ana.makeCredential({}, new SoftwareAuthenticator())
    const second = await ana.ask(PASSKEYS, { label: 'second', credential })
    assertRefusal(second, 403, 'passkey_late')
    assert.equal((await store.reader.passkeys.list()).length, 1)
  })

  test('[PKY-10] belongs to the name: to its next session and token, and to no other name', async () => {
    await using hub = await openConfirmingConsole()
    const ana = await hub.enter('ana')
    await ana.register()
    const bob = await hub.enter('bob')
    await bob.register()
    // Ana's key, in the session of Bob.
    const stolen = await bob.confirm(POLICY, {
      id: ana.authenticator.id,
      signer: ana.authenticator,
    })
    const sent = { ...POLICY, headers: { 'cartorio-confirmation': stolen } }
    assertRefusal(await bob.send(sent), 403, 'confirmation_refused')
    const named = await bob.ask(`${PASSKEYS}?name=bob`)
    const [shown, ...others] = named.json['passkeys'] as { name: string }[]
    assert.deepEqual([shown?.name, others], ['bob', []])
    await hub.admin.revokeAccessToken({ token: 'ana' })
    const next = await hub.enter('ana')
    assert.equal((await next.ask(PASSKEYS)).json['registration'], 'confirmed')
  })

  test('[PKY-10] is removed by its owner with a confirmation, and by role admin without a session', async () => {
    await using hub = await openConfirmingConsole()
    const ana = await hub.enter('ana', 'operator')
    await ana.register()
    const own = { name: 'ana', passkey: passkeyIdOf({ credentialId: ana.authenticator.id }) }
    const remove = `${PASSKEYS}/remove`
    assertRefusal(await ana.ask(remove, own), 403, 'confirmation_needed')
    const eve = await hub.enter('eve')
    await eve.register()
    assertRefusal(await eve.confirmed(remove, own), 404, 'passkey_not_found')
    const text = await hub.makeToken('ci', 'operator')
    const byToken = await send(hub.target, {
      method: 'POST',
      path: remove,
      headers: { authorization: `Bearer ${text}`, 'content-type': 'application/json' },
      body: JSON.stringify(own),
    })
    assertRefusal(byToken, 404, 'passkey_not_found')
    assert.equal((await ana.confirmed(remove, own)).status, 200)
    assert.deepEqual((await ana.ask(PASSKEYS)).json['passkeys'], [])
    const { passkeys } = await hub.admin.removePasskeys({ name: 'eve' })
    assert.deepEqual(
      passkeys.map(({ name }) => name),
      ['eve'],
    )
    const removed = await payloadsOf(hub.store, 'passkey_removed')
    assert.deepEqual(
      removed.map(({ name, actor, confirmed_by: by }) => [name, actor, by]),
      [
        ['ana', 'token:ana', own.passkey],
        ['eve', 'admin', undefined],
      ],
    )
  })

  test('[PKY-6] another origin, another key and a maker’s attestation register nothing, and nobody is asked for revocation lists', async () => {
    await using hub = await openConfirmingConsole()
    const ana = await hub.enter('ana')
    const x5c = new Map([['x5c', [Buffer.from('certificate')]]])
    const wrong: readonly RegistrationQuirks[] = [
      { origin: 'https://hub.test' },
      { origin: 'https://evil.example:8445' },
      { rpId: 'evil.example' },
      { type: 'webauthn.get' },
      { crossOrigin: true },
      { challenge: 'AAAA' },
      { isVerified: false },
      { isPresent: false },
      { attestation: { fmt: 'packed', attStmt: x5c } },
      { attestation: { fmt: 'tpm', attStmt: x5c } },
      { attestation: { fmt: 'none', attStmt: new Map([['sig', 'x']]) } },
      { attestation: { fmt: 'packed', attStmt: 'text' } },
      {
        key: new Map([
          [1, 2],
          [3, -35],
          [-1, 2],
        ]),
      },
      {
        key: new Map([
          [1, 1],
          [3, -7],
          [-1, 6],
        ]),
      },
      {
        key: new Map<number, number | Buffer>([
          [1, 3],
          [3, -257],
          [-1, Buffer.alloc(1024, 1)],
          [-2, Buffer.alloc(3, 1)],
        ]),
      },
      {
        key: new Map<number, number | Buffer>([
          [1, 3],
          [3, -257],
          [-1, Buffer.alloc(255, 0xc1)],
          [-2, Buffer.alloc(3, 1)],
        ]),
      },
      {
        key: new Map<number, number | Buffer>([
          [1, 3],
          [3, -257],
          [-1, Buffer.alloc(256, 1)],
          [-2, Buffer.alloc(256, 1)],
        ]),
      },
      { key: 'no key' },
    ]
    for (const quirks of wrong) {
      const reply = await ana.register('key', quirks)
      assertRefusal(reply, 400, 'passkey_invalid')
    }
    for (const fmt of ['packed', 'tpm']) {
      const { json } = await ana.register('key', { attestation: { fmt, attStmt: x5c } })
      assert.equal(
        json['message'],
        'not the passkey that was asked for: it comes with an attestation that nobody asked for',
        'refused unread',
      )
    }
    // The bytes are of one credential, and what is said beside them of another.
    const { rawId, ...good } = await ana.makeCredential()
    const id = new SoftwareAuthenticator().id
    const credential = { ...good, id, rawId: id }
    assert.notEqual(rawId, id)
    assertRefusal(await ana.ask(PASSKEYS, { label: 'key', credential }), 400, 'passkey_invalid')
    assert.deepEqual((await ana.ask(PASSKEYS)).json['passkeys'], [])
  })

  test('[PKY-8] what one session began to register, another one of the same token does not', async () => {
    await using hub = await openConfirmingConsole()
    const ana = await hub.enter('ana')
    const other = new PasskeyPerson(hub.target, await signIn(hub.target, ana.token))
    const request = { label: 'key', credential: await ana.makeCredential() }
    assertRefusal(await other.ask(PASSKEYS, request), 400, 'passkey_invalid')
    assert.equal((await ana.ask(PASSKEYS, request)).status, 200)
  })

  test('[PKY-6] a key that is dear to verify by is refused before anything is verified by it', async () => {
    await using hub = await openConfirmingConsole()
    const ana = await hub.enter('ana')
    const attStmt = new Map<string, number | Buffer>([
      ['alg', -257],
      ['sig', Buffer.alloc(384, 1)],
    ])
    const key = new Map<number, number | Buffer>([
      [1, 3],
      [3, -257],
      [-1, Buffer.alloc(384, 0xc1)],
      [-2, Buffer.alloc(383, 0xff)],
    ])
    const reply = await ana.register('key', { attestation: { fmt: 'packed', attStmt }, key })
    assertRefusal(reply, 400, 'passkey_invalid')
    assert.equal(
      reply.json['message'],
      'not the passkey that was asked for: its RSA key does not have 2048 to 4096 bits',
    )
  })

  test('[PKY-6] what is no CBOR, or too much of it, is refused', async () => {
    await using hub = await openConfirmingConsole()
    const ana = await hub.enter('ana')
    const good = await ana.makeCredential()
    const nested = Buffer.alloc(3000, 0x81)
    const long = Buffer.concat([Buffer.from('bb00000000ffffffff', 'hex'), Buffer.alloc(64)])
    const texts = [
      nested,
      long,
      Buffer.from('a0', 'hex'),
      Buffer.from('ff', 'hex'),
      Buffer.alloc(3),
    ]
    for (const bytes of texts) {
      const response = { ...good.response, attestationObject: bytes.toString('base64url') }
      const reply = await ana.ask(PASSKEYS, { label: 'key', credential: { ...good, response } })
      assertRefusal(reply, 400, 'passkey_invalid')
    }
    const response = { ...good.response, attestationObject: 'A'.repeat(4097) }
    assertRefusal(
      await ana.ask(PASSKEYS, { label: 'key', credential: { ...good, response } }),
      400,
      'request_invalid',
    )
  })
})
