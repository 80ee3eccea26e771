import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { comparePayloads, earlierActOf } from './compare-payloads.ts'

const show = (...payloads: Parameters<typeof comparePayloads>): string[] =>
  comparePayloads(...payloads).map(({ kind, text }) => `${kind} ${text}`)

describe('[ADT-7] what an entry changed', () => {
  test('of a list shows what went, what stayed and what came', () => {
    assert.deepEqual(
      show(
        { actor: 'a', ttl: 1800, sans: ['x', 'y'], same: [1], trial: {} },
        { actor: 'b', ttl: 900, sans: ['y', 'z'], same: [1], trial: { serial: 'x' }, added: null },
      ),
      [
        'field ttl',
        'removed 1800',
        'added 900',
        'field sans',
        'removed x',
        'same y',
        'added z',
        'field added',
        'added null',
      ],
    )
    assert.deepEqual(show({ a: 1 }, { a: 1 }), [])
  })

  test('is bounded', () => {
    const many = Array.from({ length: 1000 }, (_, at) => `name-${at}`)
    assert.equal(show({ sans: many }, { sans: [] }).length, 60)
    assert.ok(show({ a: 'x'.repeat(9999) }, {}).every((text) => text.length < 320))
  })

  test('is told of acts alone that say all that holds after them', () => {
    assert.equal(earlierActOf('politica_set')?.field, 'role')
    assert.equal(earlierActOf('constructor'), undefined)
  })
})
