// One person at the admin port, over TLS, however many admin tokens it has: its sessions, streams and passkeys. docs/protocol.md DOR-8, SES-10, SES-11,
// PKY-10.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  askAs,
  askToSignIn,
  assertIn,
  assertRefusal,
  headersOf,
  openConsole,
  type Page,
  SESSIONS,
  signIn,
} from '../../test/support/console-page.ts'
import {
  openConfirmingConsole,
  PasskeyPerson,
  PASSKEYS,
} from '../../test/support/confirming-console.ts'
import { openStream, type StreamClient } from '../../test/support/stream-client.ts'
import { insertTokenOfPerson } from '../../test/support/tokens-of-people.ts'

test('[SES-11] a person sees those of all its tokens, whatever it was called', async () => {
  await using hub = await openConsole()
  const pages: Page[] = []
  for (const [name, subject] of [
    ['alice@example.org', '7'],
    ['alice.silva@example.org', '7'],
    ['bob@example.org', '8'],
  ] as const) {
    pages.push(await signIn(hub.target, await insertTokenOfPerson(hub.store, name, subject)))
  }
  const [first, second, other] = pages
  assert.ok(first !== undefined && second !== undefined && other !== undefined)
  const list = async (page: Page) =>
    ((await askAs(hub.target, headersOf(page), SESSIONS)).json['sessions'] as { id: string }[])
      .map(({ id }) => id)
      .sort()
  assert.deepEqual(await list(second), [first.id, second.id].sort())
  assert.deepEqual(await list(other), [other.id])
  const end = { session: first.id }
  assert.equal((await askAs(hub.target, headersOf(second), `${SESSIONS}/end`, end)).status, 200)
})

test('[SES-10] a person has one share, however many tokens it has, and ends no session of others', async () => {
  await using hub = await openConsole()
  const ana = await signIn(hub.target, hub.token)
  const tokens: string[] = []
  for (let at = 0; at < 20; at += 1) {
    tokens.push(await insertTokenOfPerson(hub.store, 'alice@example.org', '7'))
  }
  const signInBy = (at: number) => signIn(hub.target, tokens[at % tokens.length] ?? '')
  const first = await signInBy(0)
  for (let at = 1; at < 10; at += 1) await signInBy(at)
  assertRefusal(await askToSignIn(hub.target, tokens[10] ?? ''), 429, 'rate_limited')
  for (let at = 10; at < 60; at += 1) {
    hub.clock.pass(6000)
    await signInBy(at)
  }
  assertRefusal(await askAs(hub.target, headersOf(first)), 401, 'session_ended')
  await assertIn(hub.target, ana)
  const { sessions } = await hub.admin.listSessions({ limit: 100 })
  const names = sessions.map(({ name }) => name)
  assert.equal(names.filter((name) => name === 'alice@example.org').length, 50)
})

test('[DOR-8] a person has twenty streams, however many tokens it has, and others have room', async () => {
  await using hub = await openConsole()
  const open = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    const stream = await openStream(hub.target, { path: '/v1/admin/changes', headers })
    streams.push(stream)
    return stream.status
  }
  const streams: StreamClient[] = []
  const tokens: string[] = []
  for (let at = 0; at < 4; at += 1) {
    tokens.push(await insertTokenOfPerson(hub.store, 'alice@example.org', '7'))
  }
  for (let at = 0; at < 20; at += 1) assert.equal(await open(tokens[at % 4] ?? ''), 200)
  for (const token of tokens) assert.equal(await open(token), 429)
  const other = await insertTokenOfPerson(hub.store, 'bob@example.org', '8')
  assert.deepEqual([await open(other), await open(hub.token)], [200, 200])
  for (const stream of streams) stream.close()
})

test('[PKY-10] passkeys are of the person: under another name they are there, and nobody inherits them with the name', async () => {
  await using hub = await openConfirmingConsole()
  const root = await hub.enter('root')
  const enter = async (name: string, subject: string) => {
    const token = await insertTokenOfPerson(hub.store, name, subject)
    return new PasskeyPerson(hub.target, await signIn(hub.target, token))
  }
  const idsOf = async (person: PasskeyPerson, query = '') => {
    const { json } = await person.ask(`${PASSKEYS}${query}`)
    return (json['passkeys'] as { id: string }[]).map(({ id }) => id)
  }
  const registrationOf = async (person: PasskeyPerson) =>
    (await person.ask(PASSKEYS)).json['registration']
  const name = 'ana@example.org'
  const first = await enter(name, '7')
  const { id } = (await first.register()).json
  const renamed = await enter('ana.silva@example.org', '7')
  assert.equal(await registrationOf(renamed), 'confirmed')
  await hub.admin.revokeAccessToken({ token: name })
  const next = await enter(name, '8')
  assert.equal(await registrationOf(next), 'open')
  const own = (await next.register()).json['id']
  assert.deepEqual(await idsOf(next, `?name=${name}`), [own])
  assert.deepEqual(await idsOf(root, `?name=${name}`), [own, id])
  // The key of the earlier person, in a session of the name.
  const remove = { name, passkey: String(id) }
  const stolen = { id: first.authenticator.id, signer: first.authenticator }
  const path = `${PASSKEYS}/remove`
  assertRefusal(await next.confirmed(path, remove, stolen), 403, 'confirmation_refused')
  assertRefusal(await next.confirmed(path, remove), 404, 'passkey_not_found')
  const { passkeys } = await hub.admin.removePasskeys({ name })
  assert.deepEqual(
    passkeys.map((passkey) => passkey.id),
    [own, id],
  )
})
