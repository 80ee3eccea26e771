// What a search for costly input is about: how one candidate is made, and how the next is made of it.

import type { Random } from '../../../test/simulation/seeded-random.ts'
import { pickInteger, pickOne } from '../pick.ts'

/** A piece of input, of some kind of grammar: `units`, over and over, in a `wrapper`, up to a size. */
export interface Genome {
  readonly wrapper: string
  readonly units: readonly string[]
  /** 0 to 1, of the room that there is. */
  readonly size: number
}

export interface Grammar {
  readonly wrappers: readonly string[]
  readonly units: readonly string[]
  /** What cost most when this was looked for before, here or by others: tried each time, before anything else. */
  readonly found: readonly Genome[]
  /** What the genome stands for, within so many bytes. */
  write(genome: Genome, bytesMax: number, random: Random): string
}

const UNITS_MAX = 4

export function randomGenome({ wrappers, units }: Grammar, random: Random): Genome {
  return { wrapper: pickOne(random, wrappers), units: [pickOne(random, units)], size: 1 }
}

/** One change. */
export function mutate(genome: Genome, { wrappers, units }: Grammar, random: Random): Genome {
  const at = pickInteger(random, 0, genome.units.length - 1)
  const changes: readonly (() => Genome)[] = [
    () => ({ ...genome, wrapper: pickOne(random, wrappers) }),
    () => ({ ...genome, units: genome.units.with(at, pickOne(random, units)) }),
    () => ({ ...genome, units: [...genome.units, pickOne(random, units)].slice(-UNITS_MAX) }),
    () => ({ ...genome, units: genome.units.toSpliced(at, 1) }),
    () => ({ ...genome, size: 0.5 + random() / 2 }),
  ]
  const changed = pickOne(random, changes)()
  return changed.units.length === 0 ? genome : changed
}

export function describeGenome({ wrapper, units, size }: Genome): string {
  return `${wrapper}: ${units.join(' ')}, ${Math.round(size * 100)} % of its room`
}
