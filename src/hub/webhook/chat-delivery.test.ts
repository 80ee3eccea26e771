// Posts to Slack and Teams, over real connections to endpoints that hold messages to the documentation, and misbehave.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { after, describe, test } from 'node:test'
import { readTeamsMessage } from '../../../test/support/adaptive-card.ts'
import { lateMessage, NOTICES } from '../../../test/support/notice-samples.ts'
import { readSlackMessage } from '../../../test/support/slack-form.ts'
import { systemClock } from '../../platform/clock.ts'
import { createAddressLookup } from '../outbound/address-lookup.ts'
import { type ChatDeliveryOptions, createChatDelivery } from './chat-delivery.ts'
import type { DeliveryOutcome } from './delivery.ts'
import { openWebhookConnection } from './webhook-connection.ts'

const closing = new AsyncDisposableStack()
after(() => closing.disposeAsync())

type Behave = (response: ServerResponse, request: IncomingMessage, body: string) => void

async function serve(behave: Behave): Promise<string> {
  const server = createServer((request, response) => {
    void readText(request).then((body) => behave(response, request, body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/services/T0/B0/secret`
}

async function post(
  format: ChatDeliveryOptions['format'],
  behave: Behave,
  signal = AbortSignal.timeout(30_000),
): Promise<DeliveryOutcome> {
  const connection = openWebhookConnection({
    url: new URL(await serve(behave)),
    rootsPem: [],
    lookup: createAddressLookup(),
  })
  const options = {
    format,
    connection,
    notices: NOTICES,
    clock: systemClock,
    userAgent: 'svc-server/1',
  }
  const delivery = createChatDelivery(options)
  try {
    return await delivery.deliver([lateMessage(1), lateMessage(2)], signal)
  } finally {
    await delivery.close()
  }
}

const answer =
  (status: number, body = '', headers: Record<string, string> = {}): Behave =>
  (response) =>
    void response.writeHead(status, headers).end(body)

describe('[WHK-29] a post to Slack', () => {
  test('is as the documentation says, and delivered with a 200', async () => {
    let seen = ''
    const outcome = await post('slack', (response, { method, url, headers }, body) => {
      seen = `${method} ${url} ${headers['content-type']}`
      assert.equal(readSlackMessage(body).urls.length, 2)
      response.end('ok')
    })
    assert.deepEqual(outcome, { kind: 'delivered', status: 200 })
    assert.equal(seen, 'POST /services/T0/B0/secret application/json')
  })

  for (const [name, behave, expected] of [
    [
      'a webhook that is no more',
      answer(404, 'no_service'),
      { kind: 'gone', status: 404, error: 'answered 404 no_service' },
    ],
    [
      'a channel that is archived',
      answer(410, 'channel_is_archived'),
      { kind: 'gone', status: 410, error: 'answered 410 channel_is_archived' },
    ],
    [
      'a message that it will not take',
      answer(400, 'invalid_payload'),
      { kind: 'refused', status: 400, error: 'answered 400 invalid_payload' },
    ],
    [
      'a page of something else',
      answer(404, '<html>no_service</html>'),
      { kind: 'failed', status: 404, error: 'answered 404', retryAfterMs: undefined },
    ],
    [
      'too many posts',
      answer(429, 'rate_limited', { 'retry-after': '30' }),
      { kind: 'failed', status: 429, error: 'answered 429', retryAfterMs: 30_000 },
    ],
    [
      'a failure of its own',
      answer(500, 'no_service'),
      { kind: 'failed', status: 500, error: 'answered 500', retryAfterMs: undefined },
    ],
    [
      'a redirect',
      answer(302, '', { location: 'http://169.254.169.254/' }),
      {
        kind: 'failed',
        status: 302,
        error: 'answered 302, and the hub does not follow redirects',
        retryAfterMs: undefined,
      },
    ],
    [
      'an answer without end',
      (response: ServerResponse) => {
        response.writeHead(404)
        const more = (): void =>
          void (response.destroyed || response.write('x'.repeat(65_536), more))
        more()
      },
      { kind: 'failed', status: 404, error: 'answered 404', retryAfterMs: undefined },
    ],
  ] as const) {
    test(`knows ${name}`, async () => {
      assert.deepEqual(await post('slack', behave), expected)
    })
  }

  test('that nobody answers ends after ten seconds', async () => {
    const outcome = await post('slack', () => undefined)
    assert.deepEqual(outcome, {
      kind: 'failed',
      status: undefined,
      error: 'no answer within 10 s',
      retryAfterMs: undefined,
    })
  })
})

describe('[WHK-30] a post to a workflow of Teams', () => {
  test('is a card that Microsoft’s library reads, and delivered with a 202', async () => {
    const outcome = await post('teams', (response, _request, body) => {
      readTeamsMessage(body)
      response.writeHead(202).end()
    })
    assert.deepEqual(outcome, { kind: 'delivered', status: 202 })
  })

  test('knows a workflow that is gone or off, and no other answer as such', async () => {
    const said = (code: string) => JSON.stringify({ error: { code, message: 'x' } })
    assert.deepEqual(await post('teams', answer(404, said('WorkflowNotFound'))), {
      kind: 'gone',
      status: 404,
      error: 'answered 404 WorkflowNotFound',
    })
    assert.equal((await post('teams', answer(400, said('Other')))).kind, 'failed')
    assert.equal((await post('teams', answer(410))).kind, 'gone')
  })
})
