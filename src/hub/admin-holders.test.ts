// One person at the admin port, over TLS, however many admin tokens it has: its sessions and streams. docs/protocol.md DOR-8, SES-10, SES-11.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  askAs,
  headersOf,
  openConsole,
  type Page,
  SESSIONS,
  signIn,
} from '../../test/support/console-page.ts'
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
