// A row of rates: sides that are measured in turn, and the figures that are made of them.

import { type Aim, type Figure, ratioFigure } from './figure.ts'
import type { Measurement } from './load-generator.ts'
import { medianOf } from './ratio.ts'
import {
  cpuMsEach,
  measureRounds,
  ratePerSecond,
  type Rounds,
  type RoundsWanted,
  type Side,
} from './rounds.ts'
import { startWorld, type World, type WorldOptions } from './world.ts'

export interface Row {
  readonly name: string
  readonly start: (world: World, seconds: number) => Promise<Scene>
}

/** Ready to be measured again and again; what it started ends with it. */
export interface Scene extends AsyncDisposable {
  /** The hub first. */
  readonly sides: readonly Side[]
  readonly figures: readonly FigureSpec[]
  readonly wanted?: RoundsWanted
  /** What else the reader is to know, after the last round. */
  readonly describe?: (rounds: Rounds) => Promise<string>
}

export interface FigureSpec {
  readonly what: string
  /** The name of the side that the hub is divided by. */
  readonly by: string
  /** CPU milliseconds of each operation, unless it is operations in a second of the clock. */
  readonly isRate?: boolean
  readonly aim?: Aim
  readonly note?: string
}

export async function measureRow(
  row: Row,
  seconds: number,
  options: WorldOptions,
): Promise<Figure[]> {
  await using world = await startWorld(options)
  await using scene = await row.start(world, seconds)
  const rounds = await measureRounds(scene.sides, scene.wanted)
  const note = await scene.describe?.(rounds)
  return scene.figures.map((spec, index) =>
    figureOf(row.name, spec, scene.sides, rounds, index === 0 ? note : undefined),
  )
}

function figureOf(
  row: string,
  { what, by, isRate = false, aim, note }: FigureSpec,
  sides: readonly Side[],
  { samples, isSettled, warmUpRounds }: Rounds,
  more: string | undefined,
): Figure {
  const hub = samples[0] ?? []
  const yardstick = samples[sides.findIndex(({ name }) => name === by)] ?? []
  const valueOf = (sample: Measurement): number =>
    isRate ? ratePerSecond(sample) : cpuMsEach(sample)
  const notes = [note, more, isSettled ? undefined : `still moving after ${warmUpRounds} rounds`]
  return ratioFigure({
    row,
    what,
    unit: isRate ? '/s' : 'ms',
    yardstickName: by,
    aim,
    rounds: hub.map((sample, round) => {
      const beside = yardstick[round]
      return { subject: valueOf(sample), yardstick: beside === undefined ? 0 : valueOf(beside) }
    }),
    perSecond: medianOf(hub.map(ratePerSecond)),
    p99Ms: medianOf(hub.map(({ p99Ms }) => p99Ms)),
    note: notes.filter((text) => text !== undefined).join('; ') || undefined,
  })
}
