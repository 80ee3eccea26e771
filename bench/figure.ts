// One line of the table. A figure with a yardstick is judged by its ratio to that, since only the ratio means the same on
// another machine or another day; a figure without one by its value.

import { type Ratio, ratioOf, type Round } from './ratio.ts'

export type Aim = { readonly atMost: number } | { readonly atLeast: number }

export interface Figure {
  /** As `--only` names it. */
  readonly row: string
  readonly what: string
  readonly unit: string
  /** The hub's, unless `what` names another program. */
  readonly value: number
  readonly yardstick?: Ratio & { readonly name: string }
  /** Of the ratio where there is a yardstick, else of the value. */
  readonly aim?: Aim | undefined
  readonly isReached?: boolean | undefined
  /** For information, as is `p99Ms`: another program on the same core changes both. */
  readonly perSecond?: number
  readonly p99Ms?: number
  readonly note?: string | undefined
}

type FigureOf = Omit<Figure, 'isReached' | 'yardstick' | 'value'>

export function valueFigure(figure: FigureOf & Pick<Figure, 'value'>): Figure {
  return { ...figure, isReached: figure.aim && isReached(figure.aim, figure.value) }
}

export function ratioFigure(
  figure: FigureOf & { readonly yardstickName: string; readonly rounds: readonly Round[] },
): Figure {
  const { yardstickName: name, rounds, ...rest } = figure
  const ratio = ratioOf(rounds)
  return {
    ...rest,
    value: ratio.subject,
    yardstick: { name, ...ratio },
    isReached: rest.aim && isReached(rest.aim, ratio.median),
  }
}

function isReached(aim: Aim, value: number): boolean {
  return 'atMost' in aim ? value <= aim.atMost : value >= aim.atLeast
}
