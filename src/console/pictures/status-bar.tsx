// Entregas by status, as one bar.

import type { JSX } from 'preact'
import { words } from '../words/words.ts'
import { StackedBar } from './stacked-bar.tsx'

type Statuses = Readonly<
  Record<'pendente' | 'em_andamento' | 'instalada' | 'entregue' | 'falhou', number>
>

const COLOURS = {
  instalada: '--ok-fill',
  entregue: '--ok-fill',
  em_andamento: '--info-fill',
  pendente: '--fresh-2',
  falhou: '--bad-fill',
} as const
const ORDER = Object.keys(COLOURS) as (keyof typeof COLOURS)[]

export function sumStatuses(statuses: Statuses): number {
  return ORDER.reduce((sum, status) => sum + statuses[status], 0)
}

export function StatusBar({
  statuses,
  withLegend,
}: {
  readonly statuses: Statuses
  readonly withLegend: boolean
}): JSX.Element {
  const { host } = words()
  return (
    <StackedBar
      total={sumStatuses(statuses)}
      withLegend={withLegend}
      parts={ORDER.filter((status) => statuses[status] > 0).map((status) => ({
        label: host.statuses[status] ?? status,
        count: statuses[status],
        colour: COLOURS[status],
      }))}
    />
  )
}
