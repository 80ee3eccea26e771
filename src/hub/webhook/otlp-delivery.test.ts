// Batches to collectors that are functions, over real connections.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { systemClock } from '../../platform/clock.ts'
import { Secret } from '../../platform/secret.ts'
import type { WebhookId } from '../../protocol/identifiers.ts'
import { testMessage } from '../domain/webhook-message.ts'
import { createAddressLookup } from '../outbound/address-lookup.ts'
import type { DeliveryOutcome } from './delivery.ts'
import { createOtlpDelivery } from './otlp-delivery.ts'
import { openWebhookConnection } from './webhook-connection.ts'

const ENDPOINT = '2b7f6a1e-9c3d-4e5f-8a6b-7c8d9e0f1a44' as WebhookId
const MESSAGES = ['2026-11-21T10:00:00.123000Z', '2026-11-21T10:00:01.123000Z'].map((timestamp) =>
  testMessage(ENDPOINT, timestamp),
)
const HEADERS = 'Authorization: Bearer s3cret\nX-Scope-OrgID: 7'

async function deliverTo(answer: RequestListener): Promise<DeliveryOutcome> {
  const server = createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const delivery = createOtlpDelivery({
    connection: openWebhookConnection({
      url: new URL(`http://127.0.0.1:${port}/v1/logs`),
      rootsPem: [],
      lookup: createAddressLookup(),
    }),
    secret: new Secret(HEADERS),
    source: { hostname: 'hub.example', version: '1' },
    clock: systemClock,
    userAgent: 'svc-server/1',
  })
  try {
    return await delivery.deliver(MESSAGES, new AbortController().signal)
  } finally {
    await delivery.close()
    server.closeAllConnections()
    server.close()
  }
}

describe('[WHK-24] a batch', () => {
  test('is one request with the headers of the receiver', async () => {
    const got: { headers: IncomingHttpHeaders; url: string | undefined; body: string }[] = []
    const outcome = await deliverTo((request, response) => {
      let body = ''
      request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
      request.on('end', () => {
        got.push({ headers: request.headers, url: request.url, body })
        response.end('{}')
      })
    })
    assert.deepEqual(outcome, { kind: 'delivered', status: 200 })
    const [{ headers, url, body } = assert.fail('nothing came'), ...others] = got
    assert.deepEqual(others, [])
    assert.equal(url, '/v1/logs')
    assert.equal(headers['content-type'], 'application/json')
    assert.equal(headers.authorization, 'Bearer s3cret')
    assert.equal(headers['x-scope-orgid'], '7')
    assert.equal(body.match(/"timeUnixNano":/g)?.length, 2)
  })

  const answers: [name: string, answer: RequestListener, expected: DeliveryOutcome][] = [
    [
      'answered 200 without a body is delivered',
      (_request, response) => response.end(),
      { kind: 'delivered', status: 200 },
    ],
    [
      'of which some were rejected says so, and not why: that may be the headers',
      (_request, response) =>
        response.end(
          '{"partialSuccess":{"rejectedLogRecords":"1","errorMessage":"Bearer s3cret is wrong"}}',
        ),
      { kind: 'rejected', status: 200, error: 'answered that it rejected 1' },
    ],
    [
      'answered with a page of somebody else has failed',
      (_request, response) => response.end('<html>sign in, please</html>'),
      failed(200, 'answered with something else than OTLP'),
    ],
    [
      'answered 429 waits as long as it is told',
      (_request, response) => response.writeHead(429, { 'retry-after': '7' }).end('{"code":8}'),
      failed(429, 'answered 429', 7000),
    ],
    [
      'answered 503 has failed',
      (_request, response) => response.writeHead(503).end(),
      failed(503, 'answered 503'),
    ],
    [
      'answered 400 has failed: what is wrong with it, others shall see',
      (_request, response) => response.writeHead(400).end('{"code":3,"message":"no"}'),
      failed(400, 'answered 400'),
    ],
    [
      'answered 410 is no longer wanted',
      (_request, response) => response.writeHead(410).end(),
      { kind: 'gone', status: 410, error: 'answered 410 Gone' },
    ],
  ]
  for (const [name, answer, expected] of answers) {
    test(name, async () => assert.deepEqual(await deliverTo(answer), expected))
  }

  test('answered without end is read up to a bound', async () => {
    let written = 0
    const outcome = await deliverTo((_request, response) => {
      response.writeHead(200)
      const pour = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(64 * 1024, 32))) {
          written += 64 * 1024
        }
      }
      response.on('drain', pour)
      pour()
    })
    assert.deepEqual(outcome, failed(200, 'answered with more than OTLP says'))
    assert.ok(written < 32 * 1024 * 1024, `${written} bytes`)
  })

  test('whose answer breaks off has failed', async () => {
    const outcome = await deliverTo((_request, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('{"partial')
      setImmediate(() => response.destroy())
    })
    assert.equal(outcome.kind, 'failed', JSON.stringify(outcome))
  })
})

function failed(status: number | undefined, error: string, retryAfterMs?: number): DeliveryOutcome {
  return { kind: 'failed', status, error, retryAfterMs }
}
