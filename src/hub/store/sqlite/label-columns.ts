// Labels that are not of a host yet, in one column: null for none.

import { type Labels, toLabelRecord } from '../../../protocol/labels.ts'

export function toLabels(column: string | null): Labels {
  return new Map(Object.entries(JSON.parse(column ?? '{}') as Record<string, string>))
}

export function fromLabels(labels: Labels): string | null {
  return labels.size === 0 ? null : JSON.stringify(toLabelRecord(labels))
}
