import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type as TypeBox } from 'typebox'
import { Check } from 'typebox/value'
import { Type } from './plain-type.ts'

function describe({ Array, Boolean, Enum, Integer, Literal, ...T }: typeof Type) {
  return T.Object({
    names: Array(T.String({ minLength: 1 }), { maxItems: 3 }),
    count: T.Optional(Integer({ minimum: 0 })),
    isOn: Boolean(),
    ratio: T.Number(),
    kind: T.Union([Literal('file'), T.Null()]),
    role: Enum(['viewer', 'admin']),
    texts: T.Record(T.String(), T.String()),
    any: T.Record(T.String(), T.Unknown()),
    inside: T.Object({ first: T.Optional(T.String()) }),
  })
}

test('each constructor makes what that of TypeBox makes', () => {
  assert.equal(JSON.stringify(describe(Type)), JSON.stringify(describe(TypeBox)))
})

test('a schema of ours is checked as one of TypeBox is, inside one of TypeBox too', () => {
  const good = {
    names: ['a'],
    isOn: true,
    ratio: 1,
    kind: null,
    role: 'admin',
    texts: { a: 'b' },
    any: { a: 1 },
    inside: {},
  }
  for (const schema of [describe(Type), TypeBox.Object(describe(Type).properties)]) {
    assert.ok(Check(schema, good))
    assert.ok(!Check(schema, { ...good, count: -1 }))
    assert.ok(!Check(schema, { ...good, names: undefined }))
    assert.ok(!Check(schema, { ...good, kind: 'else' }))
  }
})
