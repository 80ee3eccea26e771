// Chance that is the same again for the same seed: mulberry32, by Tommy Ettinger.

export interface Chance {
  /** From 0, below 1. */
  next(): number
  between(min: number, max: number): number
  integer(min: number, max: number): number
  /** Around a middle, three quarters of it within the spread. */
  around(middle: number, spread: number): number
  pick<T>(from: readonly T[]): T
  /** In the form of a random UUID. */
  uuid(): string
  hex(characters: number): string
}

export function createChance(seed: number): Chance {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d_2b_79_f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const hex = (characters: number): string => {
    let text = ''
    while (text.length < characters) {
      text += Math.floor(next() * 2 ** 32)
        .toString(16)
        .padStart(8, '0')
    }
    return text.slice(0, characters)
  }
  return {
    next,
    hex,
    between: (min, max) => min + next() * (max - min),
    integer: (min, max) => Math.floor(min + next() * (max - min + 1)),
    around: (middle, spread) => middle + (next() + next() + next() - 1.5) * spread * 1.6,
    pick: (from) => from[Math.floor(next() * from.length)] as (typeof from)[number],
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`,
  }
}
