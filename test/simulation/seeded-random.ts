// Chance that can be had again: the same seed gives the same numbers (mulberry32).

export type Random = () => number

export function createSeededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The seed that a variable asks for, else a new one; whoever runs with it prints it. */
export function seedFrom(text: string | undefined): number {
  return text === undefined || text === '' ? Date.now() % 1_000_000_007 : Number(text) >>> 0
}
