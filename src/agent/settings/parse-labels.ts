// SVC_LABELS: what somebody wants to be told of this host, beside what the agent sees itself. docs/protocol.md AGV-33.

import {
  findKeyFault,
  findValueFault,
  type Labels,
  REPORTED_LABELS_MAX,
  REPORTED_PREFIX,
  SEEN_KEYS,
  splitLabel,
} from '../../protocol/labels.ts'

const SET_LABELS_MAX = REPORTED_LABELS_MAX - SEEN_KEYS.length
/** Labels by comma, such as `rack=r7,site=fra`; a text says what is wrong. */
export function parseSetLabels(text: string): Labels | string {
  const labels = new Map<string, string>()
  for (const part of text.split(',')) {
    const word = part.trim()
    const label = splitLabel(word)
    if (label === undefined) return `is not key=value: ${word}`
    const { key, value } = label
    if (key.startsWith(REPORTED_PREFIX)) return `has ${REPORTED_PREFIX} before the key: ${word}`
    const fault = findSetFault(key, value)
    if (fault !== undefined) return `is no label, ${fault}: ${word}`
    if ((SEEN_KEYS as readonly string[]).includes(key)) return `cannot say what ${key} is: ${word}`
    if (labels.has(key)) return `names ${key} twice`
    labels.set(key, value)
  }
  return labels.size > SET_LABELS_MAX ? `has more than ${SET_LABELS_MAX} labels` : labels
}

function findSetFault(key: string, value: string): string | undefined {
  if (key === '') return 'a key is missing'
  return findKeyFault(`${REPORTED_PREFIX}${key}`) ?? findValueFault(value)
}
