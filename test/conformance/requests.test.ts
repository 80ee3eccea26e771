// What holds for every request on every port: docs/protocol.md SRF, HLT, and the general rows of ERR and LIM.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { enrollHost, type EnrolledHost } from '../support/enrolled-host.ts'
import { waitUntil } from '../support/processes.ts'
import { useHub } from '../support/use-hub.ts'
import {
  assertOk,
  assertRefused,
  connect,
  exchange,
  post,
  postBytes,
  send,
  type Target,
} from '../support/wire-client.ts'

let host: EnrolledHost
/** In the log: docs/protocol.md LOG-4. */
const EVERY_REFUSAL = { RUST_LOG: 'debug' }
const { hub } = useHub(async (listening) => {
  host = await enrollHost(listening, 'requests.example')
}, EVERY_REFUSAL)

const healthPort = (): Target => ({ port: hub.ports.health })
const enrollPort = (): Target => ({ port: hub.ports.enroll })
const mtlsPort = (): Target => host.mtls
const PORTS = { health: healthPort, enroll: enrollPort, mtls: mtlsPort }

const ROUTES = [
  { port: 'health', method: 'GET', path: '/health', allow: 'GET, HEAD' },
  { port: 'enroll', method: 'POST', path: '/v1/enroll', allow: 'POST' },
  { port: 'mtls', method: 'POST', path: '/v1/certs/issue', allow: 'POST' },
  { port: 'mtls', method: 'GET', path: '/v1/manifest', allow: 'GET, HEAD' },
  { port: 'mtls', method: 'POST', path: '/v1/events', allow: 'POST' },
] as const
const POST_ROUTES = ROUTES.filter(({ method }) => method === 'POST')
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

const JSON_TYPE = { 'content-type': 'application/json' }
const KIB = 1024

describe('health', () => {
  test('[HLT-1] [HLT-2] [SRF-1] answers status and version, and nothing else', async () => {
    const reply = await send(healthPort(), { path: '/health' })
    assertOk(reply)
    const manifest = new URL('../../package.json', import.meta.url)
    const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string }
    assert.match(version, /^\d+\.\d+\.\d+$/)
    assert.deepEqual(reply.json, { status: 'ok', version })
  })

  test('[HLT-1] [SRF-19] answers HEAD without a body, and ignores a query', async () => {
    const head = await send(healthPort(), { method: 'HEAD', path: '/health' })
    assert.deepEqual([head.status, head.text], [200, ''])
    assertOk(await send(healthPort(), { path: '/health?verbose=1' }))
  })
})

describe('routes and methods', () => {
  test('[SRF-1] [SRF-2] [SRF-3] [ERR-17] [VER-1] 404 route_not_found for what is not on this port', async () => {
    const paths = ['/', '/health', '/v1', '/v1/enroll', '/v1/enroll/', '/v1/manifest', '/v1/events']
    const more = ['/v1/certs/issue', '/enroll', '/v2/enroll', '/V1/ENROLL', '/v1//enroll', '/%']
    for (const [port, target] of Object.entries(PORTS)) {
      for (const path of [...paths, ...more, '/v1/enroll/%2e%2e', '/health/../v1/enroll']) {
        if (ROUTES.some((route) => route.port === port && route.path === path)) continue
        for (const method of ['GET', 'POST']) {
          const body = method === 'POST' ? { headers: JSON_TYPE, body: '{}' } : {}
          const reply = await send(target(), { method, path, ...body })
          assert.deepEqual(
            [port, method, path, reply.status, reply.text],
            [port, method, path, 404, '{"error":"route_not_found"}'],
          )
        }
      }
    }
  })

  test('[ERR-19] [SRF-15] [SRF-19] 405 method_not_allowed with Allow for another method of a route', async () => {
    for (const { port, path, allow } of ROUTES) {
      for (const method of METHODS) {
        if (allow.split(', ').includes(method)) continue
        const reply = await send(PORTS[port](), { method, path })
        const where = `${method} ${path}`
        assert.deepEqual([where, reply.status, reply.headers.allow], [where, 405, allow])
        if (method !== 'HEAD') assertRefused(reply, 405, 'method_not_allowed')
      }
    }
  })

  test('[SRF-8] method comes before size, media type and JSON', async () => {
    const body = 'x'.repeat(65 * KIB)
    for (const { port, path } of POST_ROUTES) {
      const reply = await send(PORTS[port](), { method: 'PUT', path, body })
      assertRefused(reply, 405, 'method_not_allowed')
    }
  })

  test('[SRF-8] route comes before size, media type and JSON', async () => {
    const body = 'x'.repeat(65 * KIB)
    for (const target of Object.values(PORTS)) {
      const reply = await send(target(), { method: 'POST', path: '/v1/none', body })
      assertRefused(reply, 404, 'route_not_found')
    }
  })
})

describe('bodies', () => {
  test('[ERR-22] [LIM-1] [SRF-8] 413 body_too_large over 64 KiB, before media type and JSON', async () => {
    for (const { port, path } of POST_ROUTES) {
      for (const headers of [JSON_TYPE, { 'content-type': 'text/plain' }, {}]) {
        const body = 'x'.repeat(64 * KIB + 1)
        const reply = await send(PORTS[port](), { method: 'POST', path, headers, body })
        assertRefused(reply, 413, 'body_too_large')
      }
    }
  })

  test('[LIM-1] 64 KiB are read, also in chunks; one byte more in chunks is 413', async () => {
    const padded = (bytes: number): string => `{"x":"${'x'.repeat(bytes - '{"x":""}'.length)}"}`
    for (const { port, path } of POST_ROUTES) {
      const whole = await postBytes(PORTS[port](), path, padded(64 * KIB))
      assertRefused(whole, 400, 'request_invalid')
      const headers = { ...JSON_TYPE, 'transfer-encoding': 'chunked' }
      const chunked = { method: 'POST', path, headers }
      const exact = await send(PORTS[port](), { ...chunked, body: padded(64 * KIB) })
      assertRefused(exact, 400, 'request_invalid')
      const over = await send(PORTS[port](), { ...chunked, body: padded(64 * KIB + 1) })
      assertRefused(over, 413, 'body_too_large')
    }
  })

  test('[LIM-5] a refused body of up to 1 MiB is read and dropped, so that the answer arrives', async () => {
    for (const { port, path } of POST_ROUTES) {
      const body = 'x'.repeat(900 * KIB)
      assertRefused(await postBytes(PORTS[port](), path, body), 413, 'body_too_large')
    }
  })

  test('[LIM-5] a kept connection goes on after a refused body', async () => {
    for (const [target, next] of [
      [enrollPort(), '/health'],
      [mtlsPort(), '/v1/manifest'],
    ] as const) {
      const socket = await connect(target)
      const body = 'x'.repeat(200 * KIB)
      const refused = `POST /v1/nothing HTTP/1.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`
      const answer = await exchange(
        socket,
        `${refused}GET ${next} HTTP/1.1\r\nConnection: close\r\n\r\n`,
      )
      // Both answers, and neither of them because of a time-out.
      assert.equal(answer.match(/HTTP\/1\.1 /g)?.length, 2, answer)
      assert.doesNotMatch(answer, /408/)
    }
  })

  test('[LIM-5] of an endless refused body no more than about 1 MiB is read', async () => {
    const socket = await connect(enrollPort())
    const head = 'POST /v1/enroll HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
    let isOver = false
    socket.once('close', () => {
      isOver = true
    })
    const answer = exchange(socket, `${head}Content-Length: 1000000000\r\n\r\n`)
    const chunk = Buffer.alloc(64 * KIB, 'x')
    const sent = await waitUntil('the connection to be closed', () => {
      if (isOver) return socket.bytesWritten
      if (socket.writableLength < KIB * KIB) socket.write(chunk)
      return undefined
    })
    assert.match(await answer, /^HTTP\/1\.1 413 /)
    // What the kernels on both sides hold comes on top of what the hub reads.
    assert.ok(sent < 16 * KIB * KIB, `${sent} bytes were sent`)
  })

  test('[ERR-23] [SRF-5] [SRF-8] 415 unsupported_media_type before JSON, for all but application/json', async () => {
    const types = ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx']
    const more = ['application/json-patch+json', 'application/ld+json', 'json', '*/*', '']
    for (const { port, path } of POST_ROUTES) {
      for (const type of [...types, ...more]) {
        const headers = { 'content-type': type }
        const reply = await send(PORTS[port](), { method: 'POST', path, headers, body: '{' })
        const got = [type, reply.status, reply.text]
        assert.deepEqual(got, [type, 415, '{"error":"unsupported_media_type"}'])
      }
      const none = await send(PORTS[port](), { method: 'POST', path, body: '{' })
      assertRefused(none, 415, 'unsupported_media_type')
    }
  })

  test('[SRF-5] application/json is taken with parameters and in any case', async () => {
    const types = ['application/json; charset=utf-8', 'Application/JSON', 'application/json;x=y']
    for (const type of [...types, ' application/json ; charset="UTF-8"']) {
      const headers = { 'content-type': type }
      const wire = { method: 'POST', path: '/v1/enroll', headers, body: '{}' }
      assertRefused(await send(enrollPort(), wire), 400, 'request_invalid')
    }
  })

  test('[ERR-1] [SRF-8] 400 json_invalid before the shape, for all that is not JSON in UTF-8', async () => {
    const utf16 = Buffer.from('{"token":"x"}', 'utf16le')
    const broken = [Buffer.from('{"token":"\xff"}', 'latin1'), Buffer.from([0xc3, 0x28]), utf16]
    const texts = ['', ' ', '{', '{}{}', "{'a':1}", '{"a":1,}', 'undefined', 'NaN', '{"a":01}']
    for (const { port, path } of POST_ROUTES) {
      for (const body of [...broken, ...texts, '\u0000', '{"a":"\n"}']) {
        const reply = await postBytes(PORTS[port](), path, body)
        const got = [String(body), reply.status, reply.text]
        assert.deepEqual(got, [String(body), 400, '{"error":"json_invalid"}'])
      }
    }
  })

  test('[ERR-2] 400 request_invalid for the wrong shape on every POST', async () => {
    for (const { port, path } of POST_ROUTES) {
      for (const body of ['{}', '[]', 'null', '1', '"x"']) {
        assertRefused(await postBytes(PORTS[port](), path, body), 400, 'request_invalid')
      }
    }
  })

  test('[LIM-4] 400 request_invalid for JSON deeper than 32 levels on every POST, also where it is ignored', async () => {
    const deep = `{"x":${'['.repeat(32)}${']'.repeat(32)}}`
    for (const { port, path } of POST_ROUTES) {
      assertRefused(await postBytes(PORTS[port](), path, deep), 400, 'request_invalid')
    }
  })

  test('[SRF-10] names that JavaScript treats specially are only names', async () => {
    const body = '{"__proto__":{"token":"x"},"constructor":{"prototype":{"role":"x"}}}'
    assertRefused(await postBytes(enrollPort(), '/v1/enroll', body), 400, 'request_invalid')
    const event = '{"tipo_evento":"x","payload":{"__proto__":{"a":1},"toString":1}}'
    assertOk(await postBytes(mtlsPort(), '/v1/events', event))
    assertOk(await send(healthPort(), { path: '/health' }))
  })
})

describe('a connection that pipelines', () => {
  test('[SRF-14] is cut on every port, the first of an agent too, and nothing goes wrong in the hub', async () => {
    for (const [port, path] of [
      ['health', '/health'],
      ['mtls', '/v1/manifest'],
    ] as const) {
      for (let count = 0; count < 5; count += 1) {
        const socket = await connect(PORTS[port]())
        await exchange(socket, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(3)).catch(() => '')
      }
      assertOk(await send(PORTS[port](), { path }))
    }
    const errors = hub.logEntries().filter(({ level }) => level === 'error')
    assert.deepEqual(errors, [])
  })
})

describe('every reply', () => {
  test('[SRF-7] [SRF-9] a URL that cannot be decoded, and an Expect that nobody knows, change nothing', async () => {
    for (const [headers, path] of [
      [{}, '/%'],
      [{ expect: 'a miracle' }, '/v1/nothing'],
    ] as const) {
      for (const port of [healthPort(), enrollPort(), mtlsPort()]) {
        assertRefused(await send(port, { path, headers }), 404, 'route_not_found')
      }
    }
    const unknown = await enrollHost(hub, 'removed.example')
    await hub.admin('POST', '/v1/admin/agentes/revoke', { agente: unknown.hostname })
    assertRefused(await send(unknown.mtls, { path: '/%' }), 401, 'agent_revoked')
  })

  test('[SRF-7] has an X-Request-Id of its own, which the log has too, with the reason', async () => {
    const body = { token: 'svct_none', hostname: 'h', role: 'r', csr_pem: 'c' }
    const replies = await Promise.all([
      send(healthPort(), { path: '/health' }),
      send(healthPort(), { path: '/none' }),
      send(mtlsPort(), { path: '/v1/manifest' }),
      post(enrollPort(), '/v1/enroll', body),
      postBytes(enrollPort(), '/v1/enroll', '{'),
    ])
    const ids = replies.map(({ headers }) => String(headers['x-request-id']))
    assert.equal(new Set(ids).size, replies.length)
    for (const [index, reply] of replies.entries()) {
      if (reply.status === 200) continue
      const entry = await waitUntil('the refusal in the log', () =>
        hub.logEntries().find(({ request_id }) => request_id === ids[index]),
      )
      assert.equal(typeof entry['reason'], 'string')
      assert.equal(entry['error'], reply.json['error'])
    }
  })

  test('[SRF-7] a client cannot choose the id', async () => {
    const headers = { 'x-request-id': 'mine', 'request-id': 'mine' }
    const reply = await send(healthPort(), { path: '/health', headers })
    assert.notEqual(reply.headers['x-request-id'], 'mine')
  })

  test('[SRF-6] of an error has one field, and neither words nor a stack', async () => {
    for (const path of ['/v1/none', '/v1/enroll?__proto__=1', `/${'x'.repeat(4000)}`]) {
      const { text } = await send(enrollPort(), { path })
      assert.match(text, /^\{"error":"[a-z_]+"\}$/)
    }
  })

  test('[SRF-16] does not depend on headers of authentication or on User-Agent', async () => {
    const headers = { authorization: 'Bearer x', cookie: 'a=b', 'user-agent': 'svc-agent/99.0.0' }
    assertOk(await send(mtlsPort(), { path: '/v1/manifest', headers }))
    assertOk(await send(mtlsPort(), { path: '/v1/manifest' }))
  })
})

describe('what is no HTTP', () => {
  const broken = {
    'no request line': 'hello\r\n\r\n',
    'a header without colon': 'GET /health HTTP/1.1\r\nHost x\r\n\r\n',
    'two lengths': 'POST /v1/enroll HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx',
    'the same length twice':
      'POST /v1/enroll HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx',
    'two hosts': 'GET /health HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\n\r\n',
    'the same host twice': 'GET /v1/manifest HTTP/1.1\r\nHost: a\r\nX: y\r\nhOST: a\r\n\r\n',
    'two hosts and a body':
      'POST /v1/enroll HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nHost: b\r\nContent-Length: 2\r\n\r\n{}',
    'a length and chunks':
      'POST /v1/enroll HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'a length that is none': 'POST /v1/enroll HTTP/1.1\r\nContent-Length: x\r\n\r\n',
    'a chunk that is none':
      'POST /v1/enroll HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    'a header of 64 KiB': `GET /health HTTP/1.1\r\nX: ${'x'.repeat(64 * KIB)}\r\n\r\n`,
    'HTTP/2 by prior knowledge': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'a TLS hello': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  }
  for (const [name, bytes] of Object.entries(broken)) {
    test(`[SRF-20] [SRF-23] [SRF-6] [SRF-7] [SRF-14] ${name} is answered 400 request_invalid and closed, and the port lives on`, async () => {
      for (const target of [healthPort(), enrollPort(), mtlsPort()]) {
        const socket = await connect(target)
        const text = await exchange(socket, bytes)
        assert.match(text, /^HTTP\/1\.1 400 /)
        assert.match(text, /x-request-id: \S+/i)
        assert.match(text, /content-type: application\/json/i)
        assert.match(text, /\r\n\r\n\{"error":"request_invalid"\}$/)
        socket.destroy()
      }
      assertOk(await send(healthPort(), { path: '/health' }))
      assertOk(await send(mtlsPort(), { path: '/v1/manifest' }))
    })
  }

  for (const [name, bytes] of Object.entries({
    'HTTP/1.0': 'GET /health HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\n\r\n',
    'HTTP/1.0 with a body':
      'POST /v1/events HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
  })) {
    test(`[SRF-12] ${name} is answered 400 request_invalid on the ports of agents, and closed`, async () => {
      for (const target of [enrollPort(), mtlsPort()]) {
        const text = await exchange(await connect(target), bytes)
        assert.match(text, /^HTTP\/1\.1 400 [^]*\r\n\r\n\{"error":"request_invalid"\}$/)
      }
    })
  }

  for (const [name, head] of Object.entries({
    'HTTP/1.0': 'HTTP/1.0\r\n',
    'HTTP/1.0 that asks to keep the connection': 'HTTP/1.0\r\nConnection: keep-alive\r\n',
  })) {
    test(`[HLT-3] ${name} is answered on the health port, and closed`, async () => {
      for (const [line, status] of [
        ['GET /health', 200],
        ['HEAD /health', 200],
        ['GET /other', 404],
        ['POST /health', 405],
      ] as const) {
        const text = await exchange(await connect(healthPort()), `${line} ${head}\r\n`)
        assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `))
        assert.match(text, /^connection: close\r$/im)
        assert.equal(/"status":"ok"/.test(text), line === 'GET /health')
      }
    })
  }

  test('[SRF-14] a client that goes away in the middle leaves nothing behind', async () => {
    const head = 'POST /v1/enroll HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
    for (const bytes of ['G', head, `${head}Content-Length: 100\r\n\r\n{"to`]) {
      const socket = await connect(enrollPort())
      socket.end(bytes)
      await new Promise((resolve) => socket.resume().once('close', resolve))
    }
    assertOk(await send(healthPort(), { path: '/health' }))
  })

  test('[SRF-14] [ERR-25] nothing here provoked a 500, and no fault is in the log', () => {
    const entries = hub.logEntries()
    const bad = entries.filter(({ status, level }) => Number(status) >= 500 || level === 'error')
    assert.deepEqual(bad, [])
  })
})

describe('slow clients', { concurrency: true }, () => {
  const since = (startMs: number): number => (Date.now() - startMs) / 1000

  test('[LIM-6] [ERR-20] 408 request_timeout when the headers take more than 10 s', async () => {
    const startMs = Date.now()
    const socket = await connect(enrollPort())
    const text = await exchange(socket, 'POST /v1/enroll HTTP/1.1\r\nHost: x\r\n')
    assert.match(text, /^HTTP\/1\.1 408 [^]*\r\n\r\n\{"error":"request_timeout"\}$/)
    assert.ok(since(startMs) >= 9 && since(startMs) < 14, `${since(startMs)} s`)
  })

  test('[LIM-7] [ERR-20] 408 request_timeout when the whole request takes more than 15 s', async () => {
    const startMs = Date.now()
    const socket = await connect(enrollPort())
    const head = 'POST /v1/enroll HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
    const text = await exchange(socket, `${head}Content-Length: 10\r\n\r\n{`)
    assert.match(text, /^HTTP\/1\.1 408 [^]*\r\n\r\n\{"error":"request_timeout"\}$/)
    assert.match(text, /x-request-id: \S+/i)
    assert.ok(since(startMs) >= 14 && since(startMs) < 19, `${since(startMs)} s`)
  })

  test('[LIM-8] a TLS handshake that takes more than 5 s is cut', async () => {
    const startMs = Date.now()
    const socket = await connect({ port: hub.ports.mtls })
    assert.doesNotMatch(await exchange(socket, ''), /HTTP/)
    assert.ok(since(startMs) >= 4 && since(startMs) < 9, `${since(startMs)} s`)
  })
})
