// What stands at, and just beyond, the limits of a schema: for each field of a request values that it just permits, and
// some that it just does not.

import type { TSchema } from 'typebox'

export type Request = Readonly<Record<string, unknown>>

/** A field, and what it may or may not be. */
export interface Extreme {
  /** Such as `numero = 2147483647`. */
  readonly description: string
  /** A good request, with that. */
  readonly applyTo: (base: Request) => Request
}

/** The part of JSON Schema that the admin operations are written in. */
interface Schema {
  readonly type?: string
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly maxItems?: number
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
}

/** Where a schema names no limit. */
const CHARACTERS_MAX = 4096
const ITEMS_MAX = 100
const INTEGERS = [0, -1, 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER, 0.5]
const AWKWARD = [
  '__proto__',
  'constructor',
  '../../etc/passwd',
  '-1',
  '*',
  '%00',
  '\u0000',
  '\u202E\u2066x',
  '’; DROP TABLE agentes; --',
  '9'.repeat(64),
]

/** Of the fields that a request may have, and of those of its objects that this good one has. */
export function extremesOf(schema: TSchema, good: Request): readonly Extreme[] {
  return variantsOf(schema as Schema, good).map(({ path, value }) => ({
    description: `${path.join('.')} = ${describe(value)}`,
    applyTo: (base) => withValue(base, path, value) as Request,
  }))
}

interface Variant {
  readonly path: readonly (string | number)[]
  readonly value: unknown
}

function variantsOf(schema: Schema, base: unknown): Variant[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const has = isRecord(base) ? base[name] : undefined
    const own = valuesOf(field).map((value) => ({ path: [name], value }))
    const inside = field.properties === undefined || !isRecord(has) ? [] : variantsOf(field, has)
    return [...own, ...inside.map(({ path, value }) => ({ path: [name, ...path], value }))]
  })
}

function valuesOf(schema: Schema): readonly unknown[] {
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap(valuesOf)
  if (schema.const !== undefined) return [schema.const]
  switch (schema.type) {
    case 'integer':
      return integersOf(schema)
    case 'string':
      return stringsOf(schema)
    case 'boolean':
      return [true, false, 'true']
    case 'null':
      return [null]
    case 'array':
      return arraysOf(schema)
    default:
      return []
  }
}

function integersOf({ minimum, maximum }: Schema): readonly number[] {
  const limits = [minimum, maximum].filter((limit) => limit !== undefined)
  return [...new Set([...limits.flatMap((limit) => [limit - 1, limit, limit + 1]), ...INTEGERS])]
}

function stringsOf({ minLength = 0, maxLength = CHARACTERS_MAX }: Schema): readonly string[] {
  return [
    '',
    'a'.repeat(Math.max(minLength, 1)),
    'a'.repeat(maxLength),
    'a'.repeat(maxLength + 1),
    '\u{1F511}'.repeat(Math.floor(Math.min(maxLength, CHARACTERS_MAX) / 2)),
    ...AWKWARD.filter(({ length }) => length <= maxLength),
  ]
}

function arraysOf({ items = {}, maxItems = ITEMS_MAX }: Schema): readonly unknown[] {
  const many = (count: number): unknown[] =>
    Array.from({ length: count }, (_, at) => `x${at}.example`)
  const ofOne = valuesOf(items).map((value) => [value])
  return [[], many(1), many(maxItems), many(maxItems + 1), ...ofOne]
}

function withValue(base: unknown, [step, ...rest]: Variant['path'], value: unknown): unknown {
  if (step === undefined) return value
  const whole = isRecord(base) ? base : {}
  return { ...whole, [step]: withValue(whole[step], rest, value) }
}

function isRecord(value: unknown): value is Request {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function describe(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length <= 40 ? text : `${text.slice(0, 30)}… (${text.length})`
}
