import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { createFakeCa, type FakeCa } from '../../../test/fakes/hub-certificates.ts'
import { type HubStreamReply, openHubStream } from './hub-stream.ts'
import type { StreamMessage } from '../../platform/parse-event-stream.ts'

type Answer = (response: ServerResponse, request: IncomingMessage) => void

let ca: FakeCa
before(async () => {
  ca = await createFakeCa()
})

/** One connection to a hub that answers so. */
async function open(
  stack: AsyncDisposableStack,
  answer: Answer,
  more: { readonly silenceMs?: number; readonly lastEventId?: string } = {},
): Promise<HubStreamReply> {
  const { certificatePem, keyPem } = await ca.issueServer('127.0.0.1')
  const server = createServer({ cert: certificatePem, key: keyPem }, (request, response) =>
    answer(response, request),
  )
  stack.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const end = new AbortController()
  stack.defer(() => end.abort())
  return openHubStream({
    baseUrl: new URL(`https://127.0.0.1:${port}`),
    keyPem,
    certificatePem,
    trustPem: ca.rootPem,
    version: '1.2.3',
    noteHubTime: () => undefined,
    lastEventId: more.lastEventId,
    signal: end.signal,
    ...(more.silenceMs === undefined ? {} : { silenceMs: more.silenceMs }),
  })
}

async function readAll(reply: HubStreamReply): Promise<StreamMessage[]> {
  assert.ok(reply.ok)
  const messages = []
  for await (const message of reply.messages) messages.push(message)
  return messages
}

function beginStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
}

describe('a stream of the hub', () => {
  const stack = new AsyncDisposableStack()
  after(() => stack.disposeAsync())

  test('[PSH-14] gives its messages, and ends when the hub ends it', async () => {
    let asked: IncomingMessage['headers'] = {}
    const reply = await open(
      stack,
      (response, { headers }) => {
        asked = headers
        beginStream(response)
        response.end(':\n\nid: a.0\nevent: manifest\ndata: {}\n\nid: cut off')
      },
      { lastEventId: 'z.9' },
    )
    assert.deepEqual(await readAll(reply), [{ event: 'manifest', id: 'a.0', data: '{}' }])
    const { accept, 'last-event-id': lastEventId, 'user-agent': userAgent } = asked
    assert.deepEqual(
      { accept, lastEventId, userAgent },
      { accept: 'text/event-stream', lastEventId: 'z.9', userAgent: 'svc-agent/1.2.3' },
    )
  })

  test('[PSH-14] [PSH-17] answers a refusal as what it is', async () => {
    const reply = await open(stack, (response) => {
      response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '7' })
      response.end('{"error":"unavailable"}')
    })
    assert.deepEqual(reply, { ok: false, status: 503, code: 'unavailable', retryAfterMs: 7000 })
  })

  test('[PSH-14] gives up one on which nothing comes any more', async () => {
    const reply = await open(
      stack,
      (response) => {
        beginStream(response)
        response.write(':\n\n')
      },
      { silenceMs: 1000 },
    )
    await assert.rejects(readAll(reply), /no stream from https:.*[Tt]imeout/)
  })

  test('[PSH-18] gives up one that floods it', async () => {
    let written = 0
    const reply = await open(stack, (response) => {
      beginStream(response)
      const flood = (): void => {
        if (response.destroyed) return
        written += 1
        response.write('id: a\nevent: manifest\ndata: {}\n\n'.repeat(100), () =>
          setImmediate(flood),
        )
      }
      flood()
    })
    await assert.rejects(readAll(reply), /the hub floods its stream/)
    assert.ok(written > 0)
  })

  for (const [what, answer] of [
    ['is not a stream', (response: ServerResponse) => void response.end('<html>')],
    ['cuts the connection', (response: ServerResponse) => void response.destroy()],
  ] as const) {
    test(`[PSH-14] fails where what answers ${what}`, async () => {
      await assert.rejects(open(stack, answer), { code: 'hub_unreachable' })
    })
  }
})
