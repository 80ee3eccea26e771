// Many requests at a time at the admin port: docs/protocol.md LIM-82.

import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { describe, test } from 'node:test'
import { openConsole } from '../../test/support/console-page.ts'
import { waitUntil } from '../../test/support/processes.ts'
import { connect, exchange, send, type Target } from '../../test/support/wire-client.ts'
import { hashToken } from './domain/hash-token.ts'

const SHOWN = '/v1/admin/status'

/** A request whose body the hub waits for. */
async function holdRequest(target: Target, token: string): Promise<Socket> {
  const socket = await connect(target)
  socket.on('error', () => undefined)
  socket.write(
    `POST /v1/admin/search HTTP/1.1\r\nHost: hub.test\r\nAuthorization: Bearer ${token}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 10\r\n\r\n',
  )
  return socket
}

const statusFor = async (target: Target, token: string): Promise<number> =>
  (await send(target, { path: SHOWN, headers: { authorization: `Bearer ${token}` } })).status

describe('[LIM-82] of one holder', () => {
  test('32 requests are under way at most; others go on', async () => {
    await using hub = await openConsole()
    const other = `svca_${'o'.repeat(43)}`
    await hub.store.write(async (writer) => {
      const [ana = assert.fail()] = await writer.listAccessTokens()
      await writer.insertAccessToken({ ...ana, hash: hashToken(other), name: 'other' })
    })
    const held: Socket[] = []
    for (let count = 0; count < 32; count += 1) {
      assert.equal(await statusFor(hub.target, hub.token), 200, `${count} are under way`)
      held.push(await holdRequest(hub.target, hub.token))
    }
    const refused = await waitUntil('the bound', async () => {
      const headers = { authorization: `Bearer ${hub.token}` }
      const reply = await send(hub.target, { path: SHOWN, headers })
      return reply.status === 200 ? undefined : reply
    })
    assert.equal(refused.status, 429)
    assert.equal(refused.json['error'], 'rate_limited')
    assert.equal(refused.headers['retry-after'], '5')
    assert.equal(await statusFor(hub.target, other), 200)
    // One that is answered makes room, and so does one whose caller has gone.
    const [first = assert.fail(), second = assert.fail()] = held
    await exchange(first, '{"q":"abc"', (received) => received.includes('HTTP/1.1 400'))
    assert.equal(await statusFor(hub.target, hub.token), 200)
    second.destroy()
    await waitUntil(
      'room',
      async () => (await statusFor(hub.target, hub.token)) === 200 || undefined,
    )
    for (const socket of held) socket.destroy()
  })
})
