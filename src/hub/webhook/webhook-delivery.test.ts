// One attempt, over real connections.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { createFakeCa, type FakeCa } from '../../../test/fakes/hub-certificates.ts'
import { createKeyAndCsr } from '../../../test/support/enrolled-host.ts'
import { systemClock } from '../../platform/clock.ts'
import { Secret } from '../../platform/secret.ts'
import { secretFrom } from '../domain/webhook-message.ts'
import { createAddressLookup, type ResolveName } from '../outbound/address-lookup.ts'
import type { DeliveryOutcome } from './delivery.ts'
import { createWebhookDelivery } from './webhook-delivery.ts'
import { openWebhookConnection } from './webhook-connection.ts'

const SECRET = secretFrom(Buffer.alloc(32, 7))
const MESSAGE = {
  id: 'msg_1',
  type: 'x',
  timestamp: 't',
  severity: 'notice',
  data: {},
  body: '{"type":"x","timestamp":"t","data":{}}',
} as const

let ca: FakeCa
before(async () => {
  ca = await createFakeCa()
})

interface Attempt {
  readonly signal?: AbortSignal
  readonly resolveName?: ResolveName
  readonly rootsPem?: readonly string[]
}

async function attempt(url: string, options: Attempt = {}): Promise<DeliveryOutcome> {
  const connection = openWebhookConnection({
    url: new URL(url),
    rootsPem: options.rootsPem ?? [ca.rootPem],
    lookup: createAddressLookup(options.resolveName),
  })
  const delivery = createWebhookDelivery({
    connection,
    secret: new Secret(SECRET),
    clock: systemClock,
    userAgent: 'svc-server/test',
  })
  try {
    return await delivery.deliver([MESSAGE], options.signal ?? new AbortController().signal)
  } finally {
    await connection.close()
  }
}

async function listening(server: Server): Promise<AsyncDisposable & { readonly port: number }> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      if ('closeAllConnections' in server)
        (server as { closeAllConnections(): void }).closeAllConnections()
      server.close()
    },
  }
}

const serve = (answer: RequestListener) => listening(createServer(answer))

describe('an attempt', () => {
  test('[WHK-2] [WHK-4] is a signed POST that the published library verifies', async () => {
    const got: { request: IncomingMessage; body: string }[] = []
    await using server = await serve((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        got.push({ request, body: Buffer.concat(chunks).toString('utf8') })
        response.writeHead(204).end()
      })
    })
    const outcome = await attempt(`http://localhost:${server.port}/in?a=1`)
    assert.deepEqual(outcome, { kind: 'delivered', status: 204 })
    const [{ request, body } = assert.fail('nothing came')] = got
    assert.equal(request.method, 'POST')
    assert.equal(request.url, '/in?a=1')
    assert.equal(request.headers['content-type'], 'application/json')
    assert.equal(request.headers['user-agent'], 'svc-server/test')
    assert.equal(request.headers['webhook-id'], 'msg_1')
    const headers = request.headers as Record<string, string>
    assert.deepEqual(new Webhook(SECRET).verify(body, headers), JSON.parse(MESSAGE.body))
  })

  const answers: [status: number, headers: Record<string, string>, expected: DeliveryOutcome][] = [
    [200, {}, { kind: 'delivered', status: 200 }],
    [299, {}, { kind: 'delivered', status: 299 }],
    [410, {}, { kind: 'gone', status: 410, error: 'answered 410 Gone' }],
    [400, {}, failed(400, 'answered 400')],
    [503, { 'retry-after': '7' }, failed(503, 'answered 503', 7000)],
    [429, { 'retry-after': 'soon' }, failed(429, 'answered 429')],
  ]
  for (const [status, headers, expected] of answers) {
    test(`[WHK-5] [WHK-7] that is answered ${status} is ${expected.kind}`, async () => {
      await using server = await serve((_request, response) => {
        response.writeHead(status, headers).end()
      })
      assert.deepEqual(await attempt(`http://127.0.0.1:${server.port}/`), expected)
    })
  }

  for (const status of [301, 302, 303, 307, 308]) {
    test(`[WHK-7] does not follow a redirect by ${status}`, async () => {
      const paths: (string | undefined)[] = []
      await using server = await serve((request, response) => {
        paths.push(request.url)
        response.writeHead(status, { location: '/elsewhere' }).end()
      })
      assert.deepEqual(
        await attempt(`http://127.0.0.1:${server.port}/`),
        failed(status, `answered ${status}, and the hub does not follow redirects`),
      )
      assert.deepEqual(paths, ['/'])
    })
  }

  test('[WHK-15] reads no more of a body without end than its bound', async () => {
    let written = 0
    await using server = await serve((_request, response) => {
      response.writeHead(200)
      const pour = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(64 * 1024))) written += 64 * 1024
      }
      response.on('drain', pour)
      pour()
    })
    const outcome = await attempt(`http://127.0.0.1:${server.port}/`)
    assert.deepEqual(outcome, { kind: 'delivered', status: 200 })
    assert.ok(written < 32 * 1024 * 1024, `${written} bytes`)
  })

  test('[WHK-7] ends when nobody answers in time', { timeout: 30_000 }, async () => {
    await using server = await listening(createTcpServer(() => undefined))
    const outcome = await attempt(`http://127.0.0.1:${server.port}/`)
    assert.deepEqual(outcome, failed(undefined, 'no answer within 10 s'))
  })

  test('ends at once when it is cut', async () => {
    const cut = new AbortController()
    await using server = await listening(createTcpServer(() => cut.abort(new Error('cut'))))
    const url = `http://127.0.0.1:${server.port}/`
    await assert.rejects(attempt(url, { signal: cut.signal }), /cut/)
  })

  test('says that nobody listens, and that a name is unknown', async () => {
    const server = await serve(() => undefined)
    await server[Symbol.asyncDispose]()
    const refused = await attempt(`http://127.0.0.1:${server.port}/`)
    assert.match(errorOf(refused), /ECONNREFUSED/)
    const unknown = await attempt('https://receiver.invalid/')
    assert.match(errorOf(unknown), /ENOTFOUND|EAI_AGAIN/)
  })
})

describe('[WHK-13] an attempt at an address that is refused', () => {
  test('ends before anything is connected to', async () => {
    const literal = await attempt('https://169.254.169.254/')
    assert.equal(errorOf(literal), 'the hub does not send to 169.254.169.254')
    const named = await attempt('https://metadata.example/', {
      resolveName: () => Promise.resolve([{ address: '169.254.169.254', family: 4 }]),
    })
    assert.match(errorOf(named), /metadata\.example leads to 169\.254\.169\.254/)
  })

  test('connects to what was checked, whatever the name leads to next', async () => {
    await using server = await serve((_request, response) => response.writeHead(204).end())
    let asked = 0
    const outcome = await attempt(`http://localhost:${server.port}/`, {
      resolveName: () => {
        asked += 1
        return Promise.resolve([
          { address: asked === 1 ? '127.0.0.1' : '169.254.169.254', family: 4 },
        ])
      },
    })
    assert.deepEqual(outcome, { kind: 'delivered', status: 204 })
    assert.equal(asked, 1)
  })
})

describe('[WHK-14] a receiver with TLS', () => {
  const closing = new AsyncDisposableStack()
  after(() => closing.disposeAsync())

  async function startTls(name: string, ageMs = 0): Promise<number> {
    const { keyPem, csrPem } = await createKeyAndCsr(name)
    const nowMs = Date.now()
    const cert = await ca.sign(csrPem, {
      commonName: name,
      notBefore: new Date(nowMs - 7_200_000 - ageMs),
      notAfter: new Date(nowMs + 3_600_000 - ageMs),
    })
    const server = createTlsServer({ key: keyPem, cert }, (_request, response) => {
      response.writeHead(200).end()
    })
    server.on('tlsClientError', () => undefined)
    return closing.use(await listening(server)).port
  }

  test('that has a certificate of a trusted root gets its message', async () => {
    const outcome = await attempt(`https://localhost:${await startTls('localhost')}/`)
    assert.deepEqual(outcome, { kind: 'delivered', status: 200 })
  })

  test('gets nothing with one that has expired, is another’s, or is of nobody that we trust', async () => {
    const expired = await attempt(`https://localhost:${await startTls('localhost', 7_000_000)}/`)
    assert.match(errorOf(expired), /certificate has expired/)
    const wrong = await attempt(`https://localhost:${await startTls('other.example')}/`)
    assert.match(errorOf(wrong), /does not match certificate's altnames/)
    const port = await startTls('localhost')
    const strange = await attempt(`https://localhost:${port}/`, { rootsPem: [] })
    assert.match(
      errorOf(strange),
      /unable to (?:get local issuer|verify the first) certificate|self-signed/,
    )
  })
})

function failed(status: number | undefined, error: string, retryAfterMs?: number): DeliveryOutcome {
  return { kind: 'failed', status, error, retryAfterMs }
}

function errorOf(outcome: DeliveryOutcome): string {
  assert.equal(outcome.kind, 'failed', JSON.stringify(outcome))
  return outcome.kind === 'failed' ? outcome.error : ''
}
