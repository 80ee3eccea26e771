// Requests that no honest client sends.

import * as fc from 'fast-check'
import { hostileJson, hostileText, hostileValue, mutatedPem } from './hostile-values.ts'
import {
  framed,
  type FuzzedPort,
  json,
  JSON_HEADER,
  latin1,
  type MalformedRequest,
  raw,
} from './request-bytes.ts'
import { blobPaths, recipientFields } from './sealed-requests.ts'

/** What the hub knows, so that a request gets past the first checks. */
export interface KnownFacts {
  readonly hostname: string
  readonly certPem: string
  readonly csrPem: string
  readonly deliveryId: string
  readonly recipient: string
  /** Of a carga that is a file for this agent. */
  readonly cargoId: string
  readonly tokens: readonly { readonly token: string; readonly hostname: string }[]
}

const PATHS = {
  health: ['/health'],
  enroll: ['/v1/enroll', '/v1/recover'],
  enrollTls: ['/v1/enroll', '/v1/recover'],
  mtls: [
    '/v1/certs/issue',
    '/v1/events',
    '/v1/manifest',
    '/v1/recipient',
    '/v1/blobs/00000000-0000-4000-8000-000000000000',
  ],
} as const
const ENROLLS = [
  { port: 'enroll', path: '/v1/enroll' },
  { port: 'enrollTls', path: '/v1/enroll' },
] as const
const RECOVERS = [
  { port: 'enroll', path: '/v1/recover' },
  { port: 'enrollTls', path: '/v1/recover' },
] as const
const ISSUE = { port: 'mtls', path: '/v1/certs/issue' } as const
const EVENTS = { port: 'mtls', path: '/v1/events' } as const
const POSTS = [...ENROLLS, ...RECOVERS, ISSUE, EVENTS] as const

const port = fc.constantFrom<FuzzedPort>('health', 'enroll', 'enrollTls', 'mtls')
const route = port.chain((name) =>
  fc.constantFrom<string>(...PATHS[name]).map((path) => ({ port: name, path })),
)
const postRoute = fc.constantFrom(...POSTS)

export function malformedRequest(facts: KnownFacts): fc.Arbitrary<MalformedRequest> {
  return fc.oneof(
    { weight: 8, arbitrary: brokenRequestLine() },
    { weight: 12, arbitrary: brokenFraming() },
    { weight: 20, arbitrary: oddHeaders() },
    { weight: 20, arbitrary: wrongRoute() },
    { weight: 30, arbitrary: badBody() },
    { weight: 45, arbitrary: hostileFields(facts) },
    { weight: 5, arbitrary: brokenTls() },
  )
}

function brokenRequestLine(): fc.Arbitrary<MalformedRequest> {
  const method = fc.constantFrom(
    'GET',
    'POST',
    '',
    'get',
    'G\0T',
    'PRI',
    'CONNECT',
    'X'.repeat(900),
  )
  const target = fc.oneof(
    fc.constantFrom('/health', '/v1/enroll', '*', '', 'http://hub/health', 'hub:443', '//', '/%'),
    fc.constantFrom('/%zz', '/%ff', '/\0', '/\x7f', '/é', '/ /', '?', '#', '/health#x', '/a\tb'),
    fc.constantFrom(`/${'a'.repeat(9000)}`, `/${'a'.repeat(40_000)}`, `/?${'&a=b'.repeat(3000)}`),
    hostileText,
  )
  const version = fc.constantFrom(
    'HTTP/1.1',
    'HTTP/1.0',
    'HTTP/2.0',
    'HTTP/9.9',
    'HTTP/',
    '',
    'RTSP/1.0',
  )
  const end = fc.constantFrom('\r\n\r\n', '\n\n', '\r\r', '\r\n', '', '\r\nHost: h\r\n\r\n')
  const line = fc.tuple(method, target, version, end).map(([m, t, v, e]) => `${m} ${t} ${v}${e}`)
  const noise = fc.uint8Array({ minLength: 1, maxLength: 400 }).map((bytes) => Buffer.from(bytes))
  const bytes = fc.oneof({ weight: 4, arbitrary: line.map((text) => Buffer.from(text)) }, noise)
  return fc.tuple(port, bytes).map(([name, content]) => raw('request line', name, content))
}

function brokenFraming(): fc.Arbitrary<MalformedRequest> {
  const lengths = fc.constantFrom(
    'Content-Length: 5\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: chunked\r\nContent-Length: 5',
    'Content-Length: 2\r\nContent-Length: 3',
    'Content-Length: 2, 2',
    'Content-Length: -1',
    'Content-Length: +2',
    'Content-Length: 0x2',
    'Content-Length: 2 2',
    'Content-Length:',
    'Content-Length: 99999999999999999999999',
    'Content-Length: 9007199254740993',
    'Content-Length : 2',
    'Content-Length: 50',
    'Transfer-Encoding: gzip, chunked',
    'Transfer-Encoding: chunked, gzip',
    'Transfer-Encoding: chunked, chunked',
    'Transfer-Encoding: xchunked',
    'Transfer-Encoding:\tchunked',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
    'Transfer_Encoding: chunked',
    'Transfer-Encoding: chunked',
  )
  const chunks = fc.constantFrom(
    '{}',
    '2\r\n{}\r\n0\r\n\r\n',
    '2;ext="\0"\r\n{}\r\n0\r\n\r\n',
    'zz\r\n{}\r\n0\r\n\r\n',
    '-2\r\n{}\r\n0\r\n\r\n',
    'ffffffffffffffffff\r\n{}',
    '2\r\n{}0\r\n\r\n',
    '2\n{}\n0\n\n',
    '5\r\n{}',
    `2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
    '2\r\n{}\r\n0\r\nTrailer: x\r\nContent-Length: 9\r\n\r\n',
    '2\r\n{}\r\n0\r\n\r\nGET /health HTTP/1.1\r\nHost: h\r\n\r\n',
    '{}GET /v1/manifest HTTP/1.1\r\nHost: h\r\n\r\n',
    '',
  )
  const field = fc.constantFrom(
    'Host: h',
    'Host: a\r\nHost: b',
    'Host: a\0b',
    ' Host: folded',
    'X: a\r\n folded',
    'NoColon',
    ': empty',
    'Bad Name: x',
    'X: \x01\x02',
    'X: a\rb',
    'X: a\nY: b',
    `X: ${'x'.repeat(20_000)}`,
    Array.from({ length: 500 }, (_, index) => `X-${index}: y`).join('\r\n'),
    Array.from({ length: 3000 }, () => 'A: b').join('\r\n'),
    `${'N'.repeat(20_000)}: y`,
  )
  const message = fc.tuple(route, lengths, chunks, field, fc.constantFrom(JSON_HEADER, 'X: y'))
  return message.map(([{ port: name, path }, length, body, other, type]) =>
    raw(
      'framing',
      name,
      latin1(`POST ${path} HTTP/1.1\r\n${other}\r\n${type}\r\n${length}\r\n\r\n${body}`),
    ),
  )
}

function oddHeaders(): fc.Arbitrary<MalformedRequest> {
  const mediaType = fc.constantFrom(
    'application/json',
    'APPLICATION/JSON',
    'application/json; charset=utf-8',
    'application/json; charset=utf-16',
    'application/json;',
    'application/json;;;',
    'application/json; =',
    'application/json; a="',
    `application/json; a=${'b'.repeat(5000)}`,
    'application/json, application/json',
    'application/jsonx',
    'application/problem+json',
    'application',
    '/',
    '',
    ';',
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    '__proto__',
    'é/ü',
  )
  const other = fc.constantFrom(
    'Accept: image/png',
    'Accept-Encoding: br;q=x',
    'Content-Encoding: gzip',
    'Expect: 100-continue',
    'Expect: the-unexpected',
    'Upgrade: websocket\r\nConnection: Upgrade',
    'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABk',
    'Connection: keep-alive, close',
    'Connection: content-length',
    'X-Forwarded-For: 1.2.3.4, \xff, ::1%x',
    'Forwarded: for="[::1]:x"',
    'Host: \xff',
    'Host:',
    'X-HTTP-Method-Override: DELETE',
    'X-Request-Id: chosen-by-client',
    'Authorization: Basic ====',
    'Cookie: __proto__=1; a',
    'Range: bytes=0-0,-1',
    'If-None-Match: *',
    'If-None-Match: "',
    `Idempotency-Key: ${'k'.repeat(300)}`,
    'Idempotency-Key: \xff\xfe',
    'Idempotency-Key: a\r\nIdempotency-Key: b',
    'Content-Type: application/json',
    'TE: trailers',
    'Trailer: Content-Length',
    'Date: yesterday',
    'Accept-Version: 9.x',
  )
  const body = fc.constantFrom('{}', '', '[]', '{"tipo_evento":"fuzz","payload":{}}')
  const method = fc.constantFrom('POST', 'POST', 'PUT', 'GET', 'HEAD')
  return fc
    .tuple(route, method, mediaType, other, body)
    .map(([where, verb, type, field, content]) =>
      framed('headers', where, verb, [`Content-Type: ${type}`, field], latin1(content)),
    )
}

function wrongRoute(): fc.Arbitrary<MalformedRequest> {
  const known = Object.values(PATHS).flat()
  const path = fc.oneof(
    fc.constantFrom<string>(...known),
    fc.constantFrom('/', '/v1', '/v1/', '/v2/enroll', '/V1/ENROLL', '/v1//enroll', '/v1/enroll/'),
    fc.constantFrom(
      '/%',
      '/%2e%2e/health',
      '/v1/%65nroll',
      '/health?x=%',
      '/health;a',
      '/health/../x',
    ),
    fc.constantFrom('/constructor', '/__proto__', '/v1/events?__proto__=1', `/${'x'.repeat(3000)}`),
    // An empty target would be no request line.
    fc.webPath().map((webPath) => `/${webPath}`),
  )
  const method = fc.constantFrom(
    'GET',
    'HEAD',
    'POST',
    'PUT',
    'PATCH',
    'DELETE',
    'OPTIONS',
    'TRACE',
  )
  const others = fc.constantFrom('PROPFIND', 'M-SEARCH', 'PURGE', 'QUERY', 'SOURCE', 'LINK', 'LOCK')
  const verb = fc.oneof({ weight: 3, arbitrary: method }, others)
  return fc
    .tuple(port, verb, path, fc.constantFrom('', '{}'))
    .map(([name, how, where, body]) =>
      framed('route', { port: name, path: where }, how, [JSON_HEADER], latin1(body)),
    )
}

function badBody(): fc.Arbitrary<MalformedRequest> {
  const whole = fc
    .tuple(postRoute, hostileJson)
    .map(([where, body]) => framed('body', where, 'POST', [JSON_HEADER], body))
  const cut = fc
    .tuple(postRoute, hostileJson, fc.nat({ max: 300 }))
    .map(([where, body, missing]) => {
      const head = `POST ${where.path} HTTP/1.1\r\nHost: h\r\n${JSON_HEADER}\r\n`
      const length = `Content-Length: ${body.length + missing + 1}\r\n\r\n`
      const bytes = Buffer.concat([latin1(head), latin1(length), body])
      return { ...raw('cut body', where.port, bytes), endsEarly: true }
    })
  return fc.oneof({ weight: 9, arbitrary: whole }, { weight: 1, arbitrary: cut })
}

/** Requests of the right shape but for one or two fields, whose values are hostile. */
function hostileFields(facts: KnownFacts): fc.Arbitrary<MalformedRequest> {
  const csr = fc.oneof({ weight: 6, arbitrary: mutatedPem(facts.csrPem) }, hostileText)
  const certificate = fc.oneof(
    { weight: 4, arbitrary: mutatedPem(facts.certPem) },
    fc.constant(facts.certPem),
  )
  const known = fc.constantFrom(...facts.tokens)
  const enroll = fc
    .tuple(
      fc.constantFrom(...ENROLLS),
      known,
      csr,
      fc.dictionary(fc.constantFrom('token', 'hostname', 'role', 'extra'), hostileValue, {
        maxKeys: 1,
      }),
    )
    .map(([where, { token, hostname }, csr_pem, wrong]) =>
      json('enroll fields', where, { token, hostname, role: 'web', csr_pem, ...wrong }),
    )
  const recover = fc
    .tuple(fc.constantFrom(...RECOVERS), certificate, csr, fc.oneof(jws(), hostileValue))
    .map(([where, cert_pem, csr_pem, proof]) =>
      json('recover fields', where, { cert_pem, csr_pem, proof }),
    )
  const entrega = fc.oneof(fc.constant(facts.deliveryId), fc.uuid(), hostileValue)
  const issue = fc
    .tuple(csr, fc.option(entrega, { nil: undefined }))
    .map(([csr_pem, entrega_id]) => json('issue fields', ISSUE, { csr_pem, entrega_id }))
  const event = fc
    .record({
      tipo_evento: fc.oneof(
        fc.constantFrom('fuzz', 'entrega_falhou', 'A', 'a'.repeat(65), 'a\n'),
        hostileValue,
      ),
      payload: fc.oneof(fc.dictionary(hostileText, hostileValue, { maxKeys: 4 }), hostileValue),
      entrega_id: fc.option(entrega, { nil: undefined }),
      request_id: fc.option(hostileValue, { nil: undefined }),
    })
    .map((fields) => json('event fields', EVENTS, fields))
  const goodEvent = fc
    .record({
      tipo_evento: fc.constant('fuzz'),
      payload: fc.dictionary(hostileText, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 }),
      request_id: fc.option(hostileText, { nil: null }),
    })
    .map((fields) => json('event payload', EVENTS, fields))
  return fc.oneof(
    enroll,
    recover,
    issue,
    event,
    goodEvent,
    recipientFields(facts),
    blobPaths(facts),
  )
}

/** Compact JWS with anything for its parts, unsigned ones and those that name algorithms of others. */
function jws(): fc.Arbitrary<string> {
  const header = fc.oneof(
    fc.constantFrom(
      { alg: 'none' },
      { alg: 'HS256' },
      { alg: 'ES256' },
      { alg: 'ES256', b64: false },
    ),
    fc.constantFrom({ alg: 'ES256', crit: ['exp'], exp: 1 }, { alg: ['ES256'] }, { alg: 'ES512' }),
    fc.jsonValue(),
  )
  const part = fc.oneof(
    fc.jsonValue().map((value) => base64(JSON.stringify(value))),
    hostileText,
  )
  const signature = fc
    .uint8Array({ maxLength: 80 })
    .map((bytes) => Buffer.from(bytes).toString('base64url'))
  return fc
    .tuple(
      header.map((value) => base64(JSON.stringify(value))),
      part,
      signature,
    )
    .map((parts) => parts.join('.'))
}

/** What comes to the TLS port and is no TLS, or no longer. */
function brokenTls(): fc.Arbitrary<MalformedRequest> {
  const noise = fc.uint8Array({ minLength: 1, maxLength: 600 }).map((bytes) => Buffer.from(bytes))
  const record = fc
    .tuple(fc.constantFrom(20, 21, 22, 23, 24, 255), fc.constantFrom(0, 1, 3, 4, 255), noise)
    .map(([type, minor, body]) =>
      Buffer.concat([Buffer.from([type, 3, minor, body.length >> 8, body.length & 255]), body]),
    )
  const plain = fc
    .constantFrom('GET /v1/manifest HTTP/1.1\r\nHost: h\r\n\r\n', '\r\n\r\n', 'SSH-2.0-x\r\n')
    .map(latin1)
  const bytes = fc.oneof(noise, record, plain)
  const security = fc.constantFrom<MalformedRequest['security']>(
    'none',
    'none',
    'inside',
    'anonymous',
  )
  const tlsPort = fc.constantFrom<FuzzedPort>('enrollTls', 'mtls')
  return fc.tuple(tlsPort, bytes, security).map(([name, content, how]) => ({
    ...raw('tls', name, content),
    security: how,
    endsEarly: true,
  }))
}

function base64(content: string): string {
  return Buffer.from(content).toString('base64url')
}
