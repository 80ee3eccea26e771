// What of an admin request is not in its body.

import type { TSchema } from 'typebox'
import type { AdminOperation } from '../../protocol/admin/operation.ts'
import type { AdminPolicy, AdminSelectorPolicy } from '../../protocol/admin/views.ts'
import { AdminRefusal } from '../service/admin-act.ts'
import { policyTag } from '../service/policy/policy-tag.ts'

const IDEMPOTENCY_KEY = /^[!-~]{16,255}$/
const VERSION_TAG = /^"(\d{1,9})"$/
const POLICY_TAG = /^"([\w-]{43})"$/
const NO_TAG = 'none'

/** The schemas of all operations are objects. */
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
 * `If-Match` names the carga's versao, or the politica's tag, that the caller has seen. `*` is any; a tag that the hub
 * never gives, or several tags, match nothing.
 */
export function withIfMatch(schema: TSchema, body: unknown, header: string | undefined): unknown {
  const { properties = {} } = schema as ObjectSchema
  const tag = header?.trim()
  if (tag === undefined || tag === '*') return body
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  if ('versao' in properties) return { ...body, versao: Number(VERSION_TAG.exec(tag)?.[1] ?? 0) }
  if ('etag' in properties) return { ...body, etag: POLICY_TAG.exec(tag)?.[1] ?? NO_TAG }
  return body
}

/** Without its quotes; undefined for a reply that has no tag. */
export function entityTagOf({ version }: AdminOperation, reply: object): string | undefined {
  if (version === undefined) return undefined
  if (version === 'politica') return policyTag(reply as AdminPolicy | AdminSelectorPolicy)
  // A carga that was just made says its versao nowhere else.
  return 'versao' in reply ? String(reply.versao) : '1'
}

/** A key that others could guess would not keep what is sealed with it. */
export function readIdempotencyKey(header: unknown): string | undefined | AdminRefusal {
  if (header === undefined) return undefined
  if (typeof header === 'string' && IDEMPOTENCY_KEY.test(header)) return header
  return new AdminRefusal(
    'idempotency_key_invalid',
    'an Idempotency-Key has 16 to 255 visible ASCII characters',
  )
}
