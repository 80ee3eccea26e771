import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { RequestRefusal } from './request-refusal.ts'
import { bodyRoomOf } from '../../../protocol/admin/body-room.ts'
import { ADMIN_OPERATIONS } from '../../../protocol/admin/operations.ts'
import { parseJsonBody } from './json-body.ts'
import { JSON_ROOM } from './json-room.ts'
import { propertyRuns } from '../../../../test/support/property.ts'

function outcomeOf(body: string | Buffer, room = JSON_ROOM.mtls): unknown {
  try {
    return parseJsonBody(Buffer.from(body as string), { ...room, depthMax: 32 })
  } catch (error) {
    assert.ok(error instanceof RequestRefusal)
    return error.refusal
  }
}

describe('parseJsonBody', () => {
  test('reads what JSON.stringify writes, whatever it is', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        const text = JSON.stringify(value)
        assert.deepEqual(outcomeOf(text), JSON.parse(text))
      }),
      propertyRuns(100),
    )
  })

  test('[EVT-12] takes every double in the spelling of JavaScript', () => {
    const doubles = fc.double({ noNaN: true, noDefaultInfinity: true })
    fc.assert(
      fc.property(doubles, (number) => {
        assert.equal(outcomeOf(String(number)), number === 0 ? JSON.parse(String(number)) : number)
      }),
      propertyRuns(100),
    )
  })

  test('[EVT-12] refuses every integer that a double cannot hold', () => {
    const beyond = fc.bigInt({ min: 2n ** 53n, max: 2n ** 200n })
    fc.assert(
      fc.property(beyond, fc.boolean(), (integer, isNegative) => {
        const exact = BigInt(Number(integer)) === integer
        const text = `${isNegative ? '-' : ''}${integer}`
        if (!exact) assert.equal(outcomeOf(`{"n":[${text}]}`), 'request_invalid')
      }),
      propertyRuns(100),
    )
  })

  test('[EVT-12] refuses overflow and underflow, and more digits than survive', () => {
    for (const text of ['1e309', '-1e309', '1e-400', '0.1000000000000000055511151231257827']) {
      assert.equal(outcomeOf(text), 'request_invalid', text)
    }
    for (const text of ['0e999', '-0', '0.0', '1.10', '1E5', '12e-1', '5e-324']) {
      assert.notEqual(outcomeOf(text), 'request_invalid', text)
    }
  })

  test('[EVT-12] does not take digits in a string for a number', () => {
    const text = '{"serial":"123456789012345678901234567890","e":"1e999"}'
    assert.deepEqual(outcomeOf(text), JSON.parse(text))
  })

  test('[LIM-4] counts arrays and objects as levels, and 32 are allowed', () => {
    const nested = (open: string, close: string, levels: number): string =>
      open.repeat(levels) + (open.endsWith(':') ? '1' : '') + close.repeat(levels)
    for (const [open, close] of [['[', ']'] as const, ['{"a":', '}'] as const]) {
      assert.notEqual(outcomeOf(nested(open, close, 32)), 'request_invalid')
      assert.equal(outcomeOf(nested(open, close, 33)), 'request_invalid')
    }
  })

  test('[LIM-35] counts names and strings, not the quotes in them, and no further than it takes', () => {
    const strings = (count: number): string => `[${Array(count).fill('"\\"\\\\"').join()}]`
    assert.notEqual(outcomeOf(strings(4096)), 'request_invalid')
    assert.equal(outcomeOf(strings(4097)), 'request_invalid')
    const names = (count: number): string => `{${Array(count).fill('"a":""').join()}}`
    assert.notEqual(outcomeOf(names(2048)), 'request_invalid')
    assert.equal(outcomeOf(names(2049)), 'request_invalid')
    assert.equal(outcomeOf('"'.repeat(8192)), 'json_invalid')
    assert.equal(outcomeOf('"'.repeat(8193)), 'request_invalid')
  })

  test('[LIM-35] of an operator’s it counts the characters outside of strings too', () => {
    const admin = bodyRoomOf(ADMIN_OPERATIONS.createCargo)
    const file = JSON.stringify({ conteudo: 'A"\n'.repeat(1_000_000) })
    const numbers = (bytes: number): string => `["",${'1,'.repeat((bytes - 6) / 2)}1]`
    assert.notEqual(outcomeOf(file, admin), 'request_invalid')
    assert.notEqual(outcomeOf(numbers(1024 * 1024), admin), 'request_invalid')
    assert.equal(outcomeOf(numbers(1024 * 1024 + 8), admin), 'request_invalid')
    assert.equal(outcomeOf(' '.repeat(1024 * 1024 + 1), admin), 'request_invalid')
  })

  test('[ERR-1] is json_invalid for bytes that are no UTF-8 and for text that is no JSON', () => {
    for (const body of [
      Buffer.from([0xff]),
      Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
      '',
      '{',
    ]) {
      assert.equal(outcomeOf(body), 'json_invalid')
    }
  })
})
