import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from './clock.ts'
import { collectWhenQuiet } from './collect-when-quiet.ts'

/** What the program spends before each look, in milliseconds; when it has collected, by the number of the look. */
async function looksWithCollection(spent: readonly number[]): Promise<readonly number[]> {
  const stop = new AbortController()
  const collected: number[] = []
  let spentMs = 0
  let look = 0
  const clock: Clock = {
    now: () => new Date(0),
    sleep: () => {
      const more = spent[look]
      if (more === undefined) stop.abort()
      spentMs += more ?? 0
      look += 1
      return Promise.resolve()
    },
  }
  const collect = (): void => {
    collected.push(look)
    // It costs something itself, which is no work of the program.
    spentMs += 90
  }
  await collectWhenQuiet({ clock, collect, spentMs: () => spentMs }, stop.signal)
  return collected
}

test('a program that worked and is quiet collects once, until it has worked again', async () => {
  assert.deepEqual(await looksWithCollection([700, 0, 0, 5, 1500, 0, 9000, 40, 10, 0]), [2, 8])
})

test('a program that works on, or did little, leaves it to V8', async () => {
  assert.deepEqual(await looksWithCollection([900, 800, 120, 110, 900]), [])
  assert.deepEqual(await looksWithCollection([90, 90, 90, 90, 0]), [])
})

test('little by little is work, too; the next collection waits for twenty times what the last one cost', async () => {
  assert.deepEqual(await looksWithCollection(Array.from({ length: 40 }, () => 60)), [9, 39])
})
