// One request of the fuzzer, as the bytes that are sent.

export type FuzzedPort = 'health' | 'enroll' | 'enrollTls' | 'mtls'

export interface MalformedRequest {
  /** What is wrong with it. */
  readonly kind: string
  readonly port: FuzzedPort
  /** Where there is TLS: with an identity, without one, or without TLS at all; `inside` is after a good handshake, below it. */
  readonly security: 'identity' | 'anonymous' | 'none' | 'inside'
  readonly bytes: Buffer
  /** Well framed: the connection is good for another request, and there is one answer. */
  readonly isFramed: boolean
  /** Our side is closed after the last byte, which is what a client that breaks down does. */
  readonly endsEarly: boolean
}

export const JSON_HEADER = 'Content-Type: application/json'

const SECURITY = {
  health: 'none',
  enroll: 'none',
  enrollTls: 'anonymous',
  mtls: 'identity',
} as const

export function raw(kind: string, name: FuzzedPort, bytes: Buffer): MalformedRequest {
  const security = SECURITY[name]
  return { kind, port: name, security, bytes, isFramed: false, endsEarly: false }
}

export function framed(
  kind: string,
  where: { readonly port: FuzzedPort; readonly path: string },
  method: string,
  headers: readonly string[],
  body: Buffer,
): MalformedRequest {
  const length = `Content-Length: ${body.length}`
  const head = [`${method} ${where.path} HTTP/1.1`, 'Host: h', ...headers, length, '', ''].join(
    '\r\n',
  )
  return {
    ...raw(kind, where.port, Buffer.concat([Buffer.from(head, 'latin1'), body])),
    isFramed: true,
  }
}

export function json(
  kind: string,
  where: { readonly port: FuzzedPort; readonly path: string },
  value: unknown,
): MalformedRequest {
  return framed(kind, where, 'POST', [JSON_HEADER], Buffer.from(JSON.stringify(value)))
}

export function latin1(content: string): Buffer {
  return Buffer.from(content, 'latin1')
}
