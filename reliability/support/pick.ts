// Seeded choices.

import { invariant } from '../../src/platform/errors.ts'
import type { Random } from '../../test/simulation/seeded-random.ts'

/** From `min` to `max`, both included. */
export function pickInteger(random: Random, min: number, max: number): number {
  return min + Math.floor(random() * (max - min + 1))
}

export function pickOne<Value>(random: Random, values: readonly Value[]): Value {
  const value = values[pickInteger(random, 0, values.length - 1)]
  invariant(value !== undefined, 'there is something to pick from')
  return value
}
