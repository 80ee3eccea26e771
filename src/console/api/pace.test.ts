import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { setStretch, stretched, waitAfterRing, waitToAsk, withTimeMs } from './pace.ts'

afterEach(() => setStretch(1))

describe('[DOR-11] a page waits', () => {
  const many = (wait: () => number): number[] => Array.from({ length: 500 }, wait)

  test('a moment of a second after a ring where few look, and never for what somebody did', () => {
    const waits = many(() => waitToAsk(0, 1000, false))
    assert.ok(waits.every((ms) => ms >= 0 && ms < 1000))
    assert.ok(Math.max(...waits) - Math.min(...waits) > 500, 'they are spread')
    setStretch(20)
    assert.equal(waitToAsk(0, 1000, true), 0)
  })

  test('so many times as long where many look, spread over four seconds at most', () => {
    setStretch(3)
    const now = Date.now()
    const waits = many(() => waitToAsk(now, 2000, false))
    assert.ok(
      waits.every((ms) => ms > 5000 && ms <= 9000),
      `${Math.min(...waits)}`,
    )
    assert.ok(Math.max(...waits) > 8000)
    setStretch(22)
    assert.ok(many(() => waitAfterRing(0)).every((ms) => ms < 4000))
  })

  test('no longer than without a stream, and as long as usual for what is seldom asked anyway', () => {
    setStretch(22)
    assert.equal(stretched(1000), 15_000)
    assert.equal(stretched(30_000), 30_000)
    setStretch(0)
    assert.equal(stretched(1000), 1000, 'a hub has no say below one')
  })

  test('four seconds for what changes by time, up to fifty who look', () => {
    assert.deepEqual(
      [1, 5, 10, 22].map((stretch) => {
        setStretch(stretch)
        return withTimeMs()
      }),
      [4000, 4000, 8000, 15_000],
    )
  })
})
