// A JSON schema as rows of a table for people.

interface Schema {
  readonly type?: string
  readonly const?: unknown
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

/** Field, type, required. */
export function describeFields(schema: unknown): string[][] {
  const { properties = {}, required = [] } = schema as Schema
  return Object.entries(properties).map(([name, field]) => [
    `\`${name}\``,
    describeType(field),
    required.includes(name) ? 'yes' : 'no',
  ])
}

export function describeType(schema: Schema): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map(describeType).join(' or ')
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.items !== undefined) return `array of ${describeType(schema.items)}`
  if (schema.pattern?.startsWith('^[0-9a-f]{8}-') === true) return 'UUID string'
  const bounds = [
    schema.pattern === undefined ? undefined : `matching \`${schema.pattern}\``,
    schema.maxLength === undefined ? undefined : `at most ${schema.maxLength} characters`,
    schema.minLength === 1 ? 'not empty' : undefined,
  ].filter((bound) => bound !== undefined)
  return [schema.type ?? 'any', ...bounds].join(', ')
}
