// What of an admin request is not in its body.

import type { TSchema } from 'typebox'
import { UserError } from '../../platform/errors.ts'

const IDEMPOTENCY_KEY = /^[!-~]{16,255}$/
const OUR_TAG = /^"(\d{1,9})"$/

/** The schemas of operations are objects, all of them. */
interface ObjectSchema {
  readonly properties?: Readonly<Record<string, { readonly type?: string }>>
}

/** The query as the object that the schema describes: text, but digits where it wants an integer. */
export function readQuery(schema: TSchema, query: unknown): Record<string, unknown> {
  const { properties = {} } = schema as ObjectSchema
  const given = query as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => given[name] !== undefined)
      .map(([name, { type }]) => {
        const value = given[name]
        const isNumber = type === 'integer' && typeof value === 'string' && /^\d{1,9}$/.test(value)
        return [name, isNumber ? Number(value) : value]
      }),
  )
}

/**
 * `If-Match` names the versao that whoever asks has seen. `*` is any; another tag than one of ours, or several, is the
 * versao of nothing.
 */
export function withIfMatch(schema: TSchema, body: unknown, header: string | undefined): unknown {
  const { properties = {} } = schema as ObjectSchema
  if (header === undefined || header.trim() === '*' || properties['versao'] === undefined)
    return body
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  return { ...body, versao: Number(OUR_TAG.exec(header.trim())?.[1] ?? 0) }
}

/** A key that others could guess would not keep what is sealed with it. */
export function readIdempotencyKey(header: unknown): string | undefined | UserError {
  if (header === undefined) return undefined
  if (typeof header === 'string' && IDEMPOTENCY_KEY.test(header)) return header
  return new UserError(
    'idempotency_key_invalid',
    'an Idempotency-Key has 16 to 255 visible ASCII characters',
    { hint: 'a new UUID for each request that is to be done' },
  )
}
