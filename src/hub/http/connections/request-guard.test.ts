import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { pino } from 'pino'
import { waitUntil } from '../../../../test/support/processes.ts'
import { DEFAULT_HUB_LIMITS } from '../../../protocol/hub-limits.ts'
import { createHttpPort, type HttpPort } from '../http-port.ts'
import { forgiveTurns } from './request-guard.ts'
import type { TurnOutcome } from './stranger-turns.ts'

const GET = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n'
const HEAD =
  'POST /v1/enroll HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n'

describe('[LIM-24] [LIM-26] on a port of strangers', () => {
  let port: HttpPort
  let client: Socket
  let received: string
  let handled: number
  let forgiven: string[]
  let waiting: { readonly address: string; readonly resolve: (outcome: TurnOutcome) => void }[]
  beforeEach(async () => {
    ;[received, handled, waiting, forgiven] = ['', 0, [], []]
    port = createHttpPort({
      port: 'enroll',
      log: pino({ level: 'silent' }),
      limits: DEFAULT_HUB_LIMITS,
      isTrustedProxy: () => true,
      turns: {
        take: (address) => new Promise((resolve) => void waiting.push({ address, resolve })),
        charge: () => undefined,
        forgive: (address) => void forgiven.push(address),
      },
    })
    port.app.post('/v1/enroll', async (request) => {
      handled += 1
      if (handled === 2) forgiveTurns(request.raw)
      return {}
    })
    const address = await port.listen({ host: '127.0.0.1', port: 0 })
    client = connect(address).setNoDelay(true)
    client.on('error', () => undefined)
    client.on('data', (bytes) => (received += bytes.toString('latin1')))
  })
  afterEach(async () => {
    client.destroy()
    await port.close(0)
  })
  const someoneWaits = () => waitUntil('a turn to be asked for', () => waiting.shift())
  const answered = () => waitUntil('an answer', () => /^HTTP\/1.1 (\d+)/.exec(received)?.[1])

  test('a request and the body that comes with it are one turn', async () => {
    client.write(`${HEAD}{}`)
    const { address, resolve } = await someoneWaits()
    assert.deepEqual([address, handled], ['127.0.0.1', 0])
    resolve('begun')
    assert.equal(await answered(), '200')
    assert.deepEqual([waiting, handled], [[], 1])
  })

  test('[LIM-25] one that succeeded is forgiven its turns, and no other', async () => {
    client.write(`${HEAD}{}`)
    const first = await someoneWaits()
    first.resolve('begun')
    await answered()
    assert.deepEqual(forgiven, [])
    client.write(`${HEAD}{}`)
    const second = await someoneWaits()
    second.resolve('begun')
    await waitUntil('it to succeed', () => forgiven[0])
    assert.deepEqual([forgiven, handled], [['127.0.0.1'], 2])
  })

  test('a body that comes later has a turn of its own', async () => {
    client.write(HEAD)
    const { resolve } = await someoneWaits()
    resolve('begun')
    client.write('{}')
    const body = await someoneWaits()
    assert.deepEqual([body.address, handled], ['127.0.0.1', 0])
    body.resolve('begun')
    assert.equal(await answered(), '200')
    assert.equal(handled, 1)
  })

  test('what has no place to wait is answered 503, with Retry-After, and may come again', async () => {
    client.write(GET)
    const { resolve } = await someoneWaits()
    resolve('full')
    assert.equal(await answered(), '503')
    assert.match(received, /\r\nretry-after: [1-9]\d*\r\n/i)
    assert.match(received, /\r\nx-request-id: \S+\r\n/i)
    assert.match(received, /\r\n\r\n\{"error":"unavailable"\}$/)
    received = ''
    client.write(`${HEAD}{}`)
    const again = await someoneWaits()
    again.resolve('begun')
    assert.equal(await answered(), '200')
  })

  test('a body that has no place to wait is answered 503', async () => {
    client.write(HEAD)
    const { resolve } = await someoneWaits()
    resolve('begun')
    client.write('{}')
    const body = await someoneWaits()
    body.resolve('full')
    assert.equal(await answered(), '503')
    assert.equal(handled, 0)
  })

  test('what its client gave up while it waited is not begun', async () => {
    client.write(`${HEAD}{}`)
    const { resolve } = await someoneWaits()
    client.destroy()
    await waitUntil('its end', async () => (await port.countConnections()) === 0 || undefined)
    resolve('begun')
    await new Promise((done) => setImmediate(done))
    assert.equal(handled, 0)
  })

  test('the turn is of the address that a trusted proxy names', async () => {
    client.write(GET.replace('\r\n\r\n', '\r\nX-Forwarded-For: 192.0.2.1, 127.0.0.1\r\n\r\n'))
    const { address } = await someoneWaits()
    // All of them are trusted here, so it is the first.
    assert.equal(address, '192.0.2.1')
    client.destroy()
    await once(client, 'close')
  })
})
