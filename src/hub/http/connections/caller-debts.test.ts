import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createCallerDebts } from './caller-debts.ts'
import { callerOf } from './caller-key.ts'

const ONE = callerOf('192.0.2.1')
const OTHER = callerOf('192.0.2.2')

describe('[LIM-25] what a caller has cost', () => {
  test('is paid after fifty times as long, and is nobody else’s', () => {
    const debts = createCallerDebts()
    debts.charge(ONE, 10, 1000)
    debts.charge(ONE, 5, 1100)
    assert.deepEqual([debts.freeAtMs(ONE), debts.freeAtMs(OTHER)], [1750, 0])
  })

  test('leaves no credit: what was not used is gone', () => {
    const debts = createCallerDebts()
    debts.charge(ONE, 1, 1000)
    debts.charge(ONE, 1, 9000)
    assert.equal(debts.freeAtMs(ONE), 9050)
  })

  test('is not owed once it is forgiven, which leaves no credit', () => {
    const debts = createCallerDebts()
    debts.charge(ONE, 10, 1000)
    debts.forgive(ONE, 4, 1100)
    assert.equal(debts.freeAtMs(ONE), 1300)
    debts.forgive(ONE, 40, 1200)
    debts.charge(ONE, 1, 1250)
    assert.equal(debts.freeAtMs(ONE), 1300)
  })

  test('is owed for ten seconds at most', () => {
    const debts = createCallerDebts()
    debts.charge(ONE, 100_000, 1000)
    assert.equal(debts.freeAtMs(ONE), 11_000)
  })

  test('is owed by all of its /64, and a fourth of it by those of its /48', () => {
    const debts = createCallerDebts()
    debts.charge(callerOf('2001:db8::1'), 10, 1000)
    const freeAtMs = (address: string) => debts.freeAtMs(callerOf(address))
    assert.equal(freeAtMs('2001:db8::2'), 1500)
    assert.equal(freeAtMs('2001:db8:0:1::1'), 1125)
    assert.equal(freeAtMs('2001:db8:1::1'), 0)
  })

  test('is forgotten when it is paid, or when there are too many: the oldest first', () => {
    const debts = createCallerDebts(2)
    const third = callerOf('192.0.2.3')
    debts.charge(ONE, 10, 1000)
    debts.charge(OTHER, 10, 1001)
    debts.charge(third, 10, 1002)
    assert.deepEqual(
      [ONE, OTHER, third].map((caller) => debts.freeAtMs(caller)),
      [0, 1501, 1502],
    )
    debts.charge(third, 10, 1600)
    assert.equal(debts.freeAtMs(OTHER), 0)
  })
})
