// Metrics, labels and values of labels in a PromQL expression that a table does not have.

import type { MetricTable } from '../../src/platform/metric-set.ts'

const FROM_PROMETHEUS = new Set(['instance', 'job', 'le'])
const SUFFIXES = /_(?:bucket|sum|count)$/

export function findWrongUses(expression: string, table: MetricTable): string[] {
  const uses = [...expression.matchAll(/\b((?:svc|process)_\w+)(?:\{([^}]*)\})?/g)]
  const wrong = uses.flatMap(([, name = '', matchers = '']) => wrongUseOf(name, matchers, table))
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) =>
    labels.split(',').map((label) => label.trim()),
  )
  const known = new Set(uses.flatMap(([, name = '']) => labelsOf(name, table)))
  const unknown = grouped.filter((label) => !known.has(label) && !FROM_PROMETHEUS.has(label))
  return [...wrong, ...unknown.map((label) => `no label ${label} to group by`)]
}

function wrongUseOf(name: string, matchers: string, table: MetricTable): string[] {
  const definition = definitionOf(name, table)
  if (definition === undefined) return [`no metric ${name}`]
  return [...matchers.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)].flatMap(
    ([, label = '', operator = '', text = '']) => {
      const values = definition.labels[label]
      if (values === undefined) return FROM_PROMETHEUS.has(label) ? [] : [`no label ${label}`]
      if (typeof values === 'string') return []
      const wanted = operator.includes('~') ? text.split('|') : [text]
      return wanted
        .filter((value) => !values.includes(value))
        .map((value) => `${label} is never ${value}`)
    },
  )
}

/** A histogram is only there in its parts. */
function definitionOf(name: string, table: MetricTable): MetricTable[string] | undefined {
  const isPart = SUFFIXES.test(name)
  const definition = table[name.replace(SUFFIXES, '')]
  if (definition === undefined) return undefined
  return (definition.type === 'histogram') === isPart ? definition : undefined
}

function labelsOf(name: string, table: MetricTable): string[] {
  return Object.keys(table[name.replace(SUFFIXES, '')]?.labels ?? {})
}
