// Labels on a command line: `key=value` gives one, `key-` takes one away. docs/protocol.md LBL-8.

import { UserError } from '../../../platform/errors.ts'
import {
  findGivenKeyFault,
  findValueFault,
  type Label,
  splitLabel,
} from '../../../protocol/labels.ts'

export interface LabelWords {
  readonly set: Record<string, string>
  readonly remove: string[]
}

/** Throws on the first word that is none, and on a key that is named twice. */
export function parseLabelWords(words: readonly string[]): LabelWords {
  const set: Record<string, string> = {}
  const remove: string[] = []
  for (const word of words) {
    const label = splitLabel(word)
    const key = label?.key ?? word.replace(/-$/, '')
    if (label === undefined && !word.endsWith('-'))
      throw invalid(word, 'it has neither = nor - at its end')
    if (Object.hasOwn(set, key) || remove.includes(key))
      throw invalid(word, `${key} is named twice`)
    const fault = findGivenKeyFault(key) ?? findValueFault(label?.value ?? '')
    if (fault !== undefined) throw invalid(word, fault)
    if (label === undefined) remove.push(key)
    else set[key] = label.value
  }
  return { set, remove }
}

/** For commander: `--label key=value`, which may be given more than once. */
export function collectLabel(
  word: string,
  earlier: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const label: Label | undefined = splitLabel(word)
  if (label === undefined) throw invalid(word, 'it has no =')
  if (Object.hasOwn(earlier, label.key)) throw invalid(word, `${label.key} is named twice`)
  return { ...earlier, ...parseLabelWords([word]).set }
}

/** Undefined for a row of a hub that knows no labels. */
export function showLabels(labels: readonly string[] | undefined): string | null {
  return labels?.join(',') ?? null
}

function invalid(word: string, why: string): UserError {
  return new UserError('label_invalid', `label ${JSON.stringify(word.slice(0, 140))}: ${why}`, {
    hint: 'key=value gives a label, key- takes it away',
  })
}
