// What tokens and operators may give a host: labels of good form, none of them the agent's to say. docs/protocol.md LBL-1, LBL-3.

import {
  findGivenKeyFault,
  findValueFault,
  GIVEN_LABELS_MAX,
  type Labels,
} from '../../../protocol/labels.ts'
import type { WantedLabels } from '../../domain/label-change.ts'
import { AdminRefusal } from '../admin-act.ts'

export function parseGivenLabels(record: Readonly<Record<string, string>> = {}): Labels {
  const labels = Object.entries(record)
  if (labels.length > GIVEN_LABELS_MAX) throw tooManyLabels('a host', labels.length)
  for (const [key, value] of labels) {
    const fault = findGivenKeyFault(key) ?? findValueFault(value)
    if (fault !== undefined)
      throw new AdminRefusal('label_invalid', `label ${quote(key)}: ${fault}`)
  }
  return new Map(labels)
}

export function parseWantedLabels(
  set: Readonly<Record<string, string>> = {},
  remove: readonly string[] = [],
): WantedLabels {
  const wanted = { set: parseGivenLabels(set), remove: [...new Set(remove)] }
  for (const key of wanted.remove) {
    const fault = findGivenKeyFault(key)
    if (fault !== undefined)
      throw new AdminRefusal('label_invalid', `label ${quote(key)}: ${fault}`)
    if (!wanted.set.has(key)) continue
    throw new AdminRefusal('request_invalid', `set and remove both name ${key}`)
  }
  if (wanted.set.size + wanted.remove.length > 0) return wanted
  throw new AdminRefusal('request_invalid', 'set and remove name no label')
}

export function tooManyLabels(whose: string, count: number): AdminRefusal {
  return new AdminRefusal(
    'labels_too_many',
    `${whose} would have ${count} labels, and may have ${GIVEN_LABELS_MAX}`,
  )
}

function quote(key: string): string {
  return JSON.stringify(key.slice(0, 80))
}
