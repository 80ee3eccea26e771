import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Clock } from '../../platform/clock.ts'
import { HubTime } from './time.ts'

const NOON = new Date('2026-01-01T12:00:00Z')
const HOUR = 3_600_000
const after = (ms: number): Date => new Date(NOON.getTime() + ms)

class SetClock implements Clock {
  current = NOON
  now(): Date {
    return this.current
  }
  sleep(): Promise<void> {
    return Promise.resolve()
  }
}

describe('[AGT-41] the hub’s time', () => {
  test('is our own as long as the hub has said nothing', () => {
    const hubTime = new HubTime(new SetClock())
    assert.equal(hubTime.skewMs, undefined)
    assert.deepEqual(hubTime.now(), NOON)
  })

  test('is what it said last, and what has passed here since', () => {
    const clock = new SetClock()
    const hubTime = new HubTime(clock)
    hubTime.note(after(-2 * HOUR))
    hubTime.note(after(HOUR))
    clock.current = after(1000)
    assert.equal(hubTime.skewMs, HOUR)
    assert.deepEqual(hubTime.now(), after(HOUR + 1000))
  })

  for (const text of [
    'nonsense',
    '1970-01-01T00:00:00Z',
    '1999-12-31T23:59:59Z',
    '9999-01-01T00:00:00Z',
    '+275760-09-13T00:00:00Z',
    '-000001-01-01T00:00:00Z',
  ]) {
    test(`takes no notice of ${text}`, () => {
      const hubTime = new HubTime(new SetClock())
      hubTime.note(new Date(text))
      assert.equal(hubTime.skewMs, undefined)
      hubTime.note(after(HOUR))
      hubTime.note(new Date(text))
      assert.equal(hubTime.skewMs, HOUR)
    })
  }

  for (const text of ['2000-01-01T00:00:00Z', '9998-12-31T23:59:59Z']) {
    test(`can be written down even when it is ${text}`, () => {
      const clock = new SetClock()
      const hubTime = new HubTime(clock)
      hubTime.note(new Date(text))
      clock.current = after(400 * 24 * HOUR)
      assert.match(hubTime.now().toISOString(), /^(2001|9999|\+010000)-/)
    })
  }
})
