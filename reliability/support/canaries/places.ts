// Everywhere that a token can be put into a request, or into what should be one.

import type { Target } from '../../../test/support/wire-client.ts'
import { connect, exchange, send } from '../../../test/support/wire-client.ts'
import { percentEncoded } from './find-traces.ts'

export interface Place {
  readonly name: string
  /** Whether the token is in the URL, or the line that has it, and so has to be ended. */
  readonly isUrl: boolean
  /** What does not parse as HTTP. */
  readonly isBroken?: boolean
  put(target: Target, token: string): Promise<unknown>
}

const JSON_TYPE = { 'content-type': 'application/json' }
/** What the request is about, so that it is not refused before it is read. */
const ROUTE = '/v1/enroll'

const encodings: readonly (readonly [string, (token: string) => string])[] = [
  ['', (token) => token],
  [', percent-encoded', percentEncoded],
  [', percent-encoded twice', (token) => percentEncoded(token).replaceAll('%', '%25')],
]

const urls: readonly (readonly [string, string, (token: string) => string])[] = [
  ['path', 'GET', (token) => `/x/${token}/y`],
  ['query', 'GET', (token) => `${ROUTE}?a=1&token=${token}`],
  ['query of a POST', 'POST', (token) => `${ROUTE}?${token}`],
  ['path that cannot be decoded', 'DELETE', (token) => `/%zz/${token}`],
  ['fragment', 'GET', (token) => `/#${token}`],
]

const headers: readonly (readonly [string, (token: string) => Record<string, string>])[] = [
  ['Authorization', (token) => ({ authorization: `Bearer ${token}` })],
  ['Basic', (token) => ({ authorization: `Basic ${base64(`user:${token}`)}` })],
  ['Referer', (token) => ({ referer: `https://hub.example/?token=${token}` })],
  ['Cookie', (token) => ({ cookie: `t=${token}`, 'user-agent': token })],
  ['Content-Type', (token) => ({ 'content-type': token })],
  ['X-Forwarded-For', (token) => ({ 'x-forwarded-for': token })],
]

const bodies: readonly (readonly [string, (token: string) => string])[] = [
  ['body', (token) => JSON.stringify({ token, hostname: token, role: 'x', csr_pem: token })],
  ['body that is no JSON', (token) => `{"token": ${token}}`],
  ['body that is cut', (token) => `{"token": "${token}`],
]

const broken: readonly (readonly [string, boolean, (token: string) => string])[] = [
  ['request line of no HTTP', true, (token) => `GET /?${token} HTTP/9.9\r\n\r\n`],
  ['request line of HTTP/1.0', true, (token) => `GET /${token} HTTP/1.0\r\n\r\n`],
  ['method', true, (token) => `${token} / HTTP/1.1\r\n\r\n`],
  ['header without colon', false, (token) => `GET / HTTP/1.1\r\n${token}\r\n\r\n`],
  [
    'chunk that is none',
    false,
    (token) =>
      `POST ${ROUTE} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${token}\r\n`,
  ],
]

export const PLACES: readonly Place[] = [
  ...urls.flatMap(([name, method, pathOf]) =>
    encodings.map(([how, encode]): Place => ({
      name: `${name}${how}`,
      isUrl: true,
      put: (target, token) => send(target, { method, path: pathOf(encode(token)) }),
    })),
  ),
  ...headers.map(([name, headersOf]): Place => ({
    name: `header ${name}`,
    isUrl: false,
    put: (target, token) =>
      send(target, {
        method: 'POST',
        path: ROUTE,
        headers: { ...JSON_TYPE, ...headersOf(token) },
        body: '{}',
      }),
  })),
  ...bodies.map(([name, bodyOf]): Place => ({
    name,
    isUrl: false,
    put: (target, token) =>
      send(target, { method: 'POST', path: ROUTE, headers: JSON_TYPE, body: bodyOf(token) }),
  })),
  ...broken.map(([name, isUrl, bytesOf]): Place => ({
    name,
    isUrl,
    isBroken: name !== 'request line of HTTP/1.0',
    put: (target, token) => exchangeBytes(target, bytesOf(token)),
  })),
]

/** What is sent to a port of TLS in the clear, which is not even read as HTTP. */
export const IN_THE_CLEAR: Place = {
  name: 'bytes that are no TLS',
  isUrl: false,
  put: ({ port }, token) => exchangeBytes({ port }, `GET /?${token} HTTP/1.1\r\n\r\n`),
}

async function exchangeBytes(target: Target, bytes: string): Promise<void> {
  const socket = await connect(target)
  // A whole answer is enough: not all of them are the end of a connection.
  await exchange(socket, bytes, (received) => /\r\n\r\n[^]/.test(received))
  socket.destroy()
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
