// The constructors of TypeBox that describe the admin operations, as plain JSON Schema: the CLI needs the route of each
// operation and no schema, and TypeBox takes a tenth of a second to load. The types are TypeBox's own.

import type { Type as TypeBox } from 'typebox'

type Constructors = Pick<
  typeof TypeBox,
  | 'Array'
  | 'Boolean'
  | 'Enum'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'
>

type Schema = Readonly<Record<string, unknown>>

/** Where TypeBox marks it, too. */
const OPTIONAL = '~optional'

const constructors = {
  Array: (items: Schema, options?: Schema) => ({ type: 'array', items, ...options }),
  Boolean: (options?: Schema) => ({ type: 'boolean', ...options }),
  Enum: (values: readonly string[]) => ({ enum: values }),
  Integer: (options?: Schema) => ({ type: 'integer', ...options }),
  Literal: (value: string | boolean) => ({ type: typeof value, const: value }),
  Null: () => ({ type: 'null' }),
  Number: (options?: Schema) => ({ type: 'number', ...options }),
  Object: (properties: Readonly<Record<string, Schema>>, options?: Schema) => {
    const required = Object.keys(properties).filter((name) => !isOptional(properties[name]))
    return { type: 'object', ...(required.length > 0 && { required }), properties, ...options }
  },
  Optional: (schema: Schema) => Object.defineProperty({ ...schema }, OPTIONAL, { value: true }),
  Record: (_key: Schema, value: Schema) => ({
    type: 'object',
    patternProperties: { '^.*$': value },
  }),
  String: (options?: Schema) => ({ type: 'string', ...options }),
  Union: (anyOf: readonly Schema[]) => ({ anyOf }),
  Unknown: () => ({}),
}

function isOptional(schema: Schema | undefined): boolean {
  return schema !== undefined && OPTIONAL in schema
}

/** What these make is what TypeBox makes, without its hidden mark of the kind: plain-type.test.ts. */
export const Type: Constructors = constructors as unknown as Constructors
