import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { waitUntil } from '../../../test/support/processes.ts'
import { createLogging } from '../../platform/logger.ts'
import { newAgent } from '../../../test/store/store-samples.ts'
import { createAgentStreams } from './agent-streams.ts'
import { openStreamResponse } from './stream-response.ts'

const LOG = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('test')

test('[PSH-8] a client that never reads is cut, and one beside it gets everything', async () => {
  let number = 0
  const streams = createAgentStreams({
    clock: { now: () => new Date(), sleep: () => new Promise(() => undefined) },
    log: LOG,
    // Long ones fill what the system buffers sooner.
    readNews: async () => ({ manifest: `${number}-${'x'.repeat(8000)}`, rotation: undefined }),
  })
  const agents = [newAgent('deaf'), newAgent('fine')] as const
  const server = createServer((request, response) => {
    const agent = request.url === '/deaf' ? agents[0] : agents[1]
    const connection = openStreamResponse(
      { id: 'id', raw: request } as unknown as FastifyRequest,
      {
        raw: response,
        hijack: () => undefined,
        getHeader: () => undefined,
      } as unknown as FastifyReply,
    )
    const authenticate = async () => agent
    streams.hold({ agentId: agent.id, connection, lastEventId: undefined, authenticate })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const [deaf, fine] = ['deaf', 'fine'].map((path) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(`GET /${path} HTTP/1.1\r\nHost: hub\r\n\r\n`)
    return socket
  })
  assert.ok(deaf && fine)
  deaf.pause()
  let received = ''
  fine.setEncoding('latin1').on('data', (text: string) => {
    received = (received + text).slice(-20_000)
  })
  await waitUntil('both streams', () => (streams.count === 2 ? true : undefined))
  const deadlineMs = Date.now() + 30_000
  while (streams.isOnline(agents[0].id) && Date.now() < deadlineMs) {
    number += 1
    streams.announce(agents.map(({ id }) => id))
    for (let turn = 0; turn < 4; turn += 1) await nextTurn()
  }
  assert.equal(streams.isOnline(agents[0].id), false)
  assert.equal(streams.isOnline(agents[1].id), true)
  await waitUntil('the last message', () => received.includes(`id: ${number}-`) || undefined)
  const closed = once(fine, 'close')
  streams.close()
  await closed
  deaf.destroy()
  server.close()
})
