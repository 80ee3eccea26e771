import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { waitUntil } from '../../../../test/support/processes.ts'
import { RequestsUnderWay } from './requests-under-way.ts'

describe('[LIM-82] requests under way', () => {
  const server = createServer()
  before(() => once(server.listen(0, '127.0.0.1'), 'listening'))
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  async function ask(): Promise<{ readonly client: Socket; readonly response: ServerResponse }> {
    const { port } = server.address() as AddressInfo
    const client = connect({ host: '127.0.0.1', port })
    client.on('error', () => undefined)
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    const [, response] = (await once(server, 'request')) as [unknown, ServerResponse]
    return { client, response }
  }

  test('are 32 of one holder at most; an answer makes room, and so does a caller that goes', async () => {
    const underWay = new RequestsUnderWay()
    const asked: Awaited<ReturnType<typeof ask>>[] = []
    while (asked.length < 32) {
      const one = await ask()
      assert.equal(underWay.enter('a', one.response), true)
      asked.push(one)
    }
    const last = await ask()
    assert.equal(underWay.enter('a', last.response), false)
    assert.equal(underWay.enter('b', last.response), true)
    const [first = assert.fail(), second = assert.fail()] = asked
    first.response.end()
    await once(first.response, 'close')
    assert.equal(underWay.enter('a', (await ask()).response), true)
    assert.equal(underWay.enter('a', last.response), false)
    second.client.destroy()
    await once(second.response, 'close')
    assert.equal(underWay.enter('a', (await ask()).response), true)
  })

  test('do not count that of a caller who went before the hub knew who it is', async () => {
    const underWay = new RequestsUnderWay()
    for (let count = 0; count < 33; count += 1) {
      const { client, response } = await ask()
      client.destroy()
      await waitUntil('its end', () => response.closed || undefined)
      assert.equal(underWay.enter('a', response), true)
    }
  })
})
