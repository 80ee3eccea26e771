import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { createLogging, type Logger } from '../../platform/logger.ts'
import { DEFAULT_HUB_LIMITS } from '../../protocol/hub-limits.ts'
import { RequestRefusal } from './json/request-refusal.ts'
import { createHealthServer } from './health-server.ts'
import { createHttpPort } from './http-port.ts'

interface Answer {
  /** All that came until the hub closed the connection. */
  readonly text: string
  /** The log lines under the id of the answer. */
  readonly logged: readonly Readonly<Record<string, unknown>>[]
}

/** Sends bytes to a health port and leaves its own half of the connection open. */
async function exchange(bytes: string): Promise<Answer> {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const logging = createLogging({ filter: { levelOf: () => 'info' }, format: 'json', destination })
  const server = createHealthServer({
    log: logging.forModule('test'),
    limits: DEFAULT_HUB_LIMITS,
    isTrustedProxy: () => false,
    version: '0.1.0',
  })
  const address = await server.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect({ ...address, allowHalfOpen: true })
  try {
    socket.write(bytes)
    const answer = await text(socket)
    const id = /x-request-id: (\S+)/i.exec(answer)?.[1]
    const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    return { text: answer, logged: entries.filter(({ request_id }) => request_id === id) }
  } finally {
    socket.destroy()
    await server.close(0)
  }
}

describe('a port of the hub', () => {
  const versions = {
    'without a version': 'GET /health\r\n\r\n',
    'of HTTP/0.9': 'GET /health HTTP/0.9\r\n\r\n',
    'of HTTP/2 with an undecodable URL': 'GET /%zz HTTP/2.0\r\nHost: x\r\n\r\n',
    'of HTTP/2': 'GET /health HTTP/2.0\r\nHost: x\r\n\r\n',
  }
  for (const [name, bytes] of Object.entries(versions)) {
    test(`[SRF-12] [SRF-20] refuses a request line ${name} and closes the connection`, async () => {
      const answer = await exchange(bytes)
      assert.match(answer.text, /^HTTP\/1\.1 400 /)
      assert.match(answer.text, /\r\n\r\n\{"error":"request_invalid"\}$/)
      assert.equal(answer.logged.length, 1)
      assert.match(
        String(answer.logged[0]?.['reason']),
        /^HTTP\/\d\.\d, the hub speaks only HTTP\/1\.1$/,
      )
    })
  }

  test('[SRF-7] logs that it refuses an undecodable URL, under the id of the answer', async () => {
    const answer = await exchange('GET /%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    assert.match(answer.text, /^HTTP\/1\.1 404 [^]*\{"error":"route_not_found"\}$/)
    assert.deepEqual(
      answer.logged.map(({ status, error, path }) => ({ status, error, path })),
      [{ status: 404, error: 'route_not_found', path: '/%zz' }],
    )
  })

  test('[LOG-5] logs neither the query of a request nor a token in its path', async () => {
    const token = `svct_${'A'.repeat(43)}`
    for (const [path, logged] of [
      [`/v1/enroll?token=${token}`, '/v1/enroll'],
      [`/${token}/x?${token}`, '/[redacted]/x'],
      [`/?a=b?c=d`, '/'],
      [`/${'x'.repeat(500)}`, `/${'x'.repeat(127)}`],
    ]) {
      const answer = await exchange(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
      assert.deepEqual(
        answer.logged.map((line) => line['path']),
        [logged],
      )
    }
  })

  for (const [refusal, isCut] of [
    ['admin_token_invalid', false],
    ['rate_limited', true],
    ['unavailable', true],
  ] as const) {
    test(`[LIM-5] of a body that is refused as ${refusal} it drops ${isCut ? '1 MiB, and cuts' : 'what the route has room for'}`, async () => {
      const port = createHttpPort({
        port: 'admin',
        log: collectLines('info').log,
        limits: DEFAULT_HUB_LIMITS,
        isTrustedProxy: () => false,
        authenticate: async () => refusal,
      })
      const room = { bytesMax: 4 * 1024 * 1024, stringsMax: 1, outsideMax: 1 }
      port.app.post('/x', { config: { room } }, () => assert.fail('refused before it'))
      const socket = connect(await port.listen({ host: '127.0.0.1', port: 0 }))
      const body = Buffer.alloc(3 * 1024 * 1024, 'x')
      const next = 'GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
      let answers = ''
      socket.on('data', (bytes) => (answers += bytes.toString()))
      // Reset while it writes, or after it was answered.
      socket.on('error', () => undefined)
      socket.write(`POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`)
      socket.write(body)
      socket.write(next)
      await new Promise((closed) => socket.once('close', closed))
      await port.close(0)
      assert.equal(answers.match(/HTTP\/1\.1 /g)?.length, isCut ? 1 : 2, answers)
    })
  }

  test('[SRF-7] logs why it refuses what is no HTTP, under the id of the answer', async () => {
    const answer = await exchange('hello\r\n\r\n')
    assert.match(answer.text, /^HTTP\/1\.1 400 Bad Request\r\n/)
    assert.equal(answer.logged.length, 1)
    const { level, status, error, reason, remote } = answer.logged[0] ?? {}
    assert.deepEqual(
      { level, status, error, remote },
      { level: 'info', status: 400, error: 'request_invalid', remote: '127.0.0.1' },
    )
    assert.match(String(reason), /^Parse Error: /)
  })

  test('[SRF-7] [LOG-4] logs why it refuses what is refused too often, in one line', async () => {
    const { log, lines } = collectLines('info')
    const { app } = createHttpPort({
      port: 'health',
      log,
      limits: DEFAULT_HUB_LIMITS,
      isTrustedProxy: () => false,
      limitRefusal: async () => 1000,
    })
    app.get('/health', () => {
      throw new RequestRefusal('request_invalid', 'wrong shape')
    })
    const { statusCode } = await app.inject('/health')
    assert.equal(statusCode, 429)
    assert.deepEqual(
      lines.map(({ level, error, reason }) => [level, error, reason]),
      [['info', 'rate_limited', 'wrong shape']],
    )
  })

  test('[LOG-4] [MET-19] whatever is refused again and again is a line in the log, and counted each time', async () => {
    const { log, lines } = collectLines('info')
    const counted: string[] = []
    const { app } = createHttpPort({
      port: 'enroll',
      log,
      limits: DEFAULT_HUB_LIMITS,
      isTrustedProxy: () => false,
      onRefusal: (port, error) => void counted.push(`${port} ${error}`),
    })
    app.post('/v1/enroll', async () => ({}))
    const json = { 'content-type': 'application/json' }
    for (let round = 0; round < 20; round += 1) {
      await app.inject('/nothing')
      await app.inject('/%zz')
      await app.inject('/v1/enroll')
      await app.inject({ method: 'POST', url: '/v1/enroll', payload: 'x' })
      await app.inject({ method: 'POST', url: '/v1/enroll', headers: json, payload: '{' })
      const large = `"${'x'.repeat(70_000)}"`
      await app.inject({ method: 'POST', url: '/v1/enroll', headers: json, payload: large })
    }
    const errors = [
      'route_not_found',
      'method_not_allowed',
      'unsupported_media_type',
      'json_invalid',
      'body_too_large',
    ]
    assert.deepEqual(
      lines.map(({ error }) => error),
      errors,
    )
    assert.equal(counted.length, 120)
    assert.deepEqual(
      [...new Set(counted)],
      errors.map((error) => `enroll ${error}`),
    )
  })

  test('[LOG-4] at debug each refusal is there, and none of its lines is long', async () => {
    const { log, lines } = collectLines('debug')
    const { app } = createHttpPort({
      port: 'health',
      log,
      limits: DEFAULT_HUB_LIMITS,
      isTrustedProxy: () => true,
    })
    app.get('/health', () => {
      throw new RequestRefusal('request_invalid', 'x'.repeat(5000))
    })
    const headers = {
      'x-forwarded-for': 'y'.repeat(5000),
      traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
      'user-agent': 'z'.repeat(5000),
    }
    await app.inject({ url: '/health', headers })
    await app.inject({ url: `/${'n'.repeat(5000)}`, headers })
    await app.inject({ url: `/${'n'.repeat(5000)}`, headers })
    assert.deepEqual(
      lines.map(({ level, error }) => [level, error]),
      [
        ['info', 'request_invalid'],
        ['info', 'route_not_found'],
        ['debug', 'route_not_found'],
      ],
    )
    for (const line of lines) assert.ok(JSON.stringify(line).length < 700, JSON.stringify(line))
  })
})

function collectLines(lowest: 'info' | 'debug'): {
  readonly log: Logger
  readonly lines: Record<string, unknown>[]
} {
  const lines: Record<string, unknown>[] = []
  const destination = {
    write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  }
  const logging = createLogging({ filter: { levelOf: () => lowest }, format: 'json', destination })
  return { log: logging.forModule('test'), lines }
}
