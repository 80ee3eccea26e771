// What svc answers by itself, in the form of the hub's admin port. docs/protocol.md API-13, LOC.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TSchema } from 'typebox'
import { Check } from 'typebox/value'
import { SvcError, UserError } from '../../platform/errors.ts'
import { parseJson } from '../../platform/parse-json.ts'
import { LOCAL_BODY_BYTES_MAX } from '../../protocol/admin/local-console.ts'

export class LocalRefusal extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, message: string) {
    super(message)
    this.name = 'LocalRefusal'
    this.status = status
    this.code = code
  }
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  })
  response.end(text)
}

/** What was not read of the request is never read: the connection ends with the answer. */
export function sendFailure(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return void response.destroy()
  const { status, code, message } = describe(error)
  sendJson(response, status, { error: code, message }, { connection: 'close' })
}

function describe(error: unknown): {
  readonly status: number
  readonly code: string
  readonly message: string
} {
  if (error instanceof LocalRefusal) return error
  if (error instanceof UserError) {
    return { status: 409, code: error.code, message: withHint(error) }
  }
  if (error instanceof SvcError) {
    return { status: 502, code: error.code, message: withHint(error) }
  }
  return { status: 500, code: 'internal_error', message: 'svc has a fault' }
}

function withHint({ message, hint }: SvcError): string {
  return hint === undefined ? message : `${message} (${hint})`
}

/** Throws a LocalRefusal unless the body is what the schema says. */
export async function readBody(request: IncomingMessage, schema: TSchema): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    const buffer = chunk as Buffer
    bytes += buffer.length
    if (bytes > LOCAL_BODY_BYTES_MAX) {
      throw new LocalRefusal(413, 'body_too_large', 'the body is over its limit')
    }
    chunks.push(buffer)
  }
  const body = parseJson(Buffer.concat(chunks).toString('utf8'))
  if (Check(schema, body)) return body
  throw new LocalRefusal(400, 'request_invalid', 'the request is not valid')
}
