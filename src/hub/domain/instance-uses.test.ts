import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type InstanceUse, noteInstance, noteSwap, type StreamSwap } from './instance-uses.ts'

/** Each step is an instance and the second in which it is heard of; answers whom it is heard of beside. */
function play(steps: readonly [id: string, second: number][]): (string | undefined)[] {
  const uses: InstanceUse[] = []
  return steps.map(([id, second]) => noteInstance(uses, { id, address: id }, second * 1000)?.id)
}
const last = (steps: readonly [string, number][]): string | undefined => play(steps).at(-1)

describe('[AUT-17] an identity is used from two places', () => {
  test('when a process is heard of again long after another one began', () => {
    assert.equal(
      last([
        ['a', 0],
        ['b', 10],
        ['a', 40],
      ]),
      'b',
    )
    assert.equal(
      last([
        ['a', 0],
        ['b', 10],
        ['b', 3600],
        ['a', 3601],
      ]),
      'b',
    )
    // Three, of which the first two have gone on all the time.
    assert.deepEqual(
      play([
        ['a', 0],
        ['b', 1],
        ['c', 2],
        ['b', 40],
        ['a', 41],
      ]).slice(-2),
      ['c', 'b'],
    )
  })

  test('never by one host: it restarts, polls now and then, changes its address, or sleeps', () => {
    assert.deepEqual(
      play([
        ['a', 0],
        ['a', 30],
        ['b', 31],
        ['b', 60],
        ['c', 61],
        ['d', 62],
        ['e', 63],
        ['e', 4000],
      ]),
      Array.from({ length: 8 }, () => undefined),
    )
    const uses: InstanceUse[] = []
    for (const [index, address] of [
      '192.0.2.1',
      '10.0.0.1',
      '192.0.2.1',
      '2001:db8::1',
    ].entries()) {
      assert.equal(noteInstance(uses, { id: 'a', address }, index * 100_000), undefined)
    }
  })

  test('not by what a process that ended had sent, which comes after its successor', () => {
    assert.deepEqual(
      play([
        ['a', 0],
        ['b', 1],
        ['a', 2],
        ['b', 3],
        ['a', 20],
        ['b', 40],
        ['b', 80],
      ]),
      [undefined, undefined, undefined, undefined, undefined, undefined, undefined],
    )
  })

  test('no longer when the second place is silent', () => {
    assert.deepEqual(
      play([
        ['a', 0],
        ['b', 1],
        ['a', 40],
        ['a', 70],
        ['a', 100],
      ]),
      [undefined, undefined, 'b', undefined, undefined],
    )
  })

  test('[LIM-55] and four processes are remembered, whatever an agent invents', () => {
    const uses: InstanceUse[] = []
    for (let count = 0; count < 100; count += 1) {
      noteInstance(uses, { id: `i${count}`, address: '' }, count)
    }
    assert.deepEqual(
      uses.map(({ id }) => id),
      ['i96', 'i97', 'i98', 'i99'],
    )
  })
})

describe('[AUT-17] streams that throw each other out', () => {
  const playSwaps = (swaps: readonly [from: string, to: string][], stepMs = 10_000): boolean[] => {
    const noted: StreamSwap[] = []
    return swaps.map(([from, to], index) => noteSwap(noted, { from, to, atMs: index * stepMs }))
  }
  const alternating = (count: number): [string, string][] =>
    Array.from({ length: count }, (_, index) => (index % 2 === 0 ? ['a', 'b'] : ['b', 'a']))

  test('six times in a row from two addresses in turn are two places', () => {
    assert.deepEqual(playSwaps(alternating(7)), [false, false, false, false, false, true, true])
  })

  test('from one address, on the way through many networks, or over hours they are one host', () => {
    const same = alternating(12).map((): [string, string] => ['a', 'a'])
    const roaming = Array.from({ length: 12 }, (_, index): [string, string] => [
      `${index}`,
      `${index + 1}`,
    ])
    const back: [string, string][] = [
      ...alternating(5),
      ['b', 'c'],
      ['c', 'b'],
      ['b', 'a'],
      ['a', 'b'],
    ]
    for (const swaps of [same, roaming, back]) assert.ok(!playSwaps(swaps).includes(true))
    assert.ok(!playSwaps(alternating(20), 7 * 60_000).includes(true))
  })
})
