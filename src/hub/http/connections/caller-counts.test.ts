import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CallerCounts } from './caller-counts.ts'
import { callerOf } from './caller-key.ts'

describe('[LIM-29] what is counted of callers', () => {
  test('is the same for all addresses of a /64, and nobody else’s', () => {
    const counts = new CallerCounts()
    for (let at = 1; at <= 3; at += 1) counts.add(callerOf(`2001:db8::${at}`))
    const hasThree = (address: string) => counts.has(callerOf(address), 3)
    assert.deepEqual(['2001:db8::9', '2001:db8:0:1::1', '192.0.2.1'].map(hasThree), [
      true,
      false,
      false,
    ])
    counts.remove(callerOf('2001:db8::1'))
    assert.equal(hasThree('2001:db8::9'), false)
  })

  test('is four times as much for a /48', () => {
    const counts = new CallerCounts()
    for (let at = 1; at <= 8; at += 1) counts.add(callerOf(`2001:db8:0:${at}::1`))
    const hasTwo = (address: string) => counts.has(callerOf(address), 2)
    assert.deepEqual(['2001:db8:0:99::1', '2001:db8:1::1'].map(hasTwo), [true, false])
    counts.remove(callerOf('2001:db8:0:1::1'))
    assert.equal(hasTwo('2001:db8:0:99::1'), false)
  })

  test('is one by one for IPv4, however it is written', () => {
    const counts = new CallerCounts()
    counts.add(callerOf('::ffff:192.0.2.1'))
    assert.equal(counts.has(callerOf('192.0.2.1'), 1), true)
    assert.equal(counts.has(callerOf('192.0.2.2'), 1), false)
  })
})
