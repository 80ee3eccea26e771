import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { awaitHello, type TakeHello } from './await-hello.ts'

/** RFC 8446 5.1: a record of the handshake with one byte. */
const HELLO = Buffer.from('160301000101', 'hex')

describe('[LIM-43] a client that has said hello, and whose handshake has not begun', () => {
  let server: Server
  let client: Socket
  let connection: Socket
  let takeHello: TakeHello
  beforeEach(async () => {
    server = createServer({ allowHalfOpen: true })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    client = connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })
    client.on('error', () => undefined)
    connection = ((await once(server, 'connection')) as [Socket])[0]
    const said = new Promise<TakeHello>((resolve) => awaitHello(connection, 30_000, resolve))
    client.write(HELLO)
    takeHello = await said
  })
  afterEach(() => {
    client.destroy()
    connection.destroy()
    server.close()
  })

  const partings: Record<string, () => unknown> = {
    closes: () => client.end(),
    'is reset': () => client.resetAndDestroy(),
    'says more than 64 KiB': () => client.write(Buffer.alloc(64 * 1024)),
  }
  for (const [name, leave] of Object.entries(partings)) {
    test(`is closed when it ${name}`, async () => {
      const closed = new Promise((resolve) => connection.once('close', resolve))
      leave()
      await closed
    })
  }

  test('is heard from its start when it begins', async () => {
    client.write(HELLO)
    while (connection.bytesRead < 2 * HELLO.length) await once(connection, 'data')
    assert.deepEqual(takeHello(), Buffer.concat([HELLO, HELLO]))
    assert.equal(connection.isPaused(), true)
    assert.equal(connection.listenerCount('data'), 0)
  })
})
