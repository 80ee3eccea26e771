// The metrics of one program, by a table that says what each is: nothing global, and nothing that the table does not name.

import {
  Counter,
  Gauge,
  Histogram,
  Registry,
  type RegistryContentType,
} from '@prometheus-io/client'
import { invariant } from './errors.ts'

export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** `seconds`, `bytes`, …; empty for a plain count. */
  readonly unit: string
  /** Every value that a label can have, or in words where they come from. */
  readonly labels: Readonly<Record<string, readonly string[] | string>>
  readonly meaning: string
  /** Upper bounds of a histogram. */
  readonly buckets?: readonly number[]
}
export type MetricTable = Readonly<Record<string, MetricDefinition>>

type NameOf<Table extends MetricTable, Type> = {
  [Name in keyof Table]: Table[Name]['type'] extends Type ? Name : never
}[keyof Table] &
  string
type LabelsOf<Table extends MetricTable, Name extends keyof Table> = Readonly<
  Record<keyof Table[Name]['labels'], string>
>

export interface Series<Labels> {
  readonly labels: Labels
  readonly value: number
}

export interface MetricSet<Table extends MetricTable> {
  add<Name extends NameOf<Table, 'counter'>>(
    name: Name,
    labels: LabelsOf<Table, Name>,
    amount?: number,
  ): void
  observe<Name extends NameOf<Table, 'histogram'>>(
    name: Name,
    labels: LabelsOf<Table, Name>,
    value: number,
  ): void
  /** All series of a gauge, or of a counter that is kept elsewhere; what it had before is gone. */
  replace<Name extends NameOf<Table, 'gauge' | 'counter'>>(
    name: Name,
    series: readonly Series<LabelsOf<Table, Name>>[],
  ): void
  render(): Promise<RenderedMetrics>
}

export interface RenderedMetrics {
  readonly contentType: string
  readonly text: string
}

export const OPEN_METRICS_TYPE: RegistryContentType =
  'application/openmetrics-text; version=1.0.0; charset=utf-8'

export function createMetricSet<Table extends MetricTable>(table: Table): MetricSet<Table> {
  const registry = new Registry(OPEN_METRICS_TYPE)
  const counters = new Map<string, Counter<string>>()
  const gauges = new Map<string, Gauge<string>>()
  const histograms = new Map<string, Histogram<string>>()
  for (const [name, definition] of Object.entries(table)) {
    const labelNames = Object.keys(definition.labels)
    const settings = { name, help: definition.meaning, labelNames, registers: [registry] }
    if (definition.type === 'counter') {
      const counter = new Counter(settings)
      counters.set(name, counter)
      // A rate needs a zero to begin with.
      for (const labels of everyCombination(definition)) counter.inc(labels, 0)
    } else if (definition.type === 'gauge') {
      gauges.set(name, new Gauge(settings))
    } else {
      const buckets = definition.buckets
      invariant(buckets, `${name} has buckets`)
      histograms.set(name, new Histogram({ ...settings, buckets: [...buckets] }))
    }
  }
  return {
    add: (name, labels, amount = 1) => counters.get(name)?.inc({ ...labels }, amount),
    observe: (name, labels, value) => histograms.get(name)?.observe({ ...labels }, value),
    replace: (name, series) => {
      const counter = counters.get(name)
      const gauge = gauges.get(name)
      counter?.reset()
      gauge?.reset()
      // A reset leaves a zero, which says something that nobody measured.
      if (series.length === 0) gauge?.remove({})
      for (const { labels, value } of series) {
        counter?.inc({ ...labels }, value)
        gauge?.set({ ...labels }, value)
      }
    },
    render: async () => ({ contentType: OPEN_METRICS_TYPE, text: await registry.metrics() }),
  }
}

/** None where a label's values are not all known. */
function everyCombination({ labels }: MetricDefinition): Record<string, string>[] {
  let combinations: Record<string, string>[] = [{}]
  for (const [label, values] of Object.entries(labels)) {
    if (typeof values === 'string') return []
    combinations = combinations.flatMap((one) =>
      values.map((value) => ({ ...one, [label]: value })),
    )
  }
  return combinations
}
