import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { createSecureContext } from 'node:tls'
import { createHttpConnections } from './http-connections.ts'
import { HubUnreachableError, routeUrl, sendToHub } from './request.ts'

async function ask(listener: RequestListener) {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const connections = createHttpConnections(() => createSecureContext())
  try {
    const { outcome } = await sendToHub({
      connections,
      url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/x`),
      method: 'GET',
      userAgent: 'svc-agent/0.0.0',
      decode: (body) => (body === 'right' ? body : undefined),
    })
    return outcome
  } finally {
    await connections.destroy()
    server.close()
  }
}

describe('a reply of the hub', () => {
  test('that is right is a value, with the hub’s time', async () => {
    const outcome = await ask((_request, response) => response.end('"right"'))
    assert.ok('ok' in outcome && outcome.ok && outcome.hubTime instanceof Date)
  })

  const refusals: [retryAfter: string | undefined, retryAfterMs: number | undefined][] = [
    [undefined, undefined],
    ['7', 7000],
    ['999999999', 3_600_000],
    ['soon', undefined],
  ]
  for (const [retryAfter, retryAfterMs] of refusals) {
    test(`that refuses with Retry-After ${retryAfter} is a refusal`, async () => {
      const outcome = await ask((_request, response) => {
        response.writeHead(429, retryAfter === undefined ? {} : { 'retry-after': retryAfter })
        response.end('{"error":"rate_limited"}')
      })
      assert.deepEqual(outcome, {
        ok: false,
        status: 429,
        code: 'rate_limited',
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      })
    })
  }

  test('of something else than the hub has no code', async () => {
    const outcome = await ask((_request, response) => response.writeHead(503).end('<html>'))
    assert.deepEqual(outcome, { ok: false, status: 503, code: 'unknown' })
  })

  const unusable: [what: string, listener: RequestListener][] = [
    ['is not the protocol’s', (_request, response) => response.end('"wrong"')],
    ['is over the limit', (_request, response) => response.end('"right"'.padEnd(1024 * 1024 + 1))],
    [
      'is cut short',
      (_request, response) => {
        response.writeHead(200, { 'content-length': '10' }).write('"r')
        setImmediate(() => response.destroy())
      },
    ],
  ]
  for (const [what, listener] of unusable) {
    test(`[LIM-15] that ${what} counts as none`, () =>
      assert.rejects(ask(listener), HubUnreachableError))
  }

  test('[LIM-15] of exactly 1 MiB is read', async () => {
    const outcome = await ask((_request, response) => response.end('"right"'.padEnd(1024 * 1024)))
    assert.ok('ok' in outcome && outcome.ok)
  })

  test('is asked for below the path that a proxy gives the hub', () => {
    assert.equal(
      routeUrl(new URL('https://a.example/hub/'), '/v1/enroll').href,
      'https://a.example/hub/v1/enroll',
    )
    assert.equal(
      routeUrl(new URL('https://a.example'), '/v1/enroll').href,
      'https://a.example/v1/enroll',
    )
  })
})
