// Labels as somebody wrote them, and as the host has them: only what differs is asked for, so that labels which somebody else changed meanwhile stay.

import { type Label, isReported, splitLabel } from '../../../protocol/labels.ts'

export type LabelChange =
  | {
      readonly ok: true
      readonly set: Readonly<Record<string, string>>
      readonly remove: readonly string[]
    }
  /** A line that is no label, or a key that is there twice. */
  | { readonly ok: false; readonly word: string }

/** What the agent of the host says by itself nobody else changes. docs/protocol.md LBL-3. */
export function listGiven(labels: readonly string[]): readonly string[] {
  return labels.filter((label) => !isReported(label))
}

/** What is wrong with a key or a value is the hub's to say. */
export function readLabels(given: readonly string[], text: string): LabelChange {
  const wanted = new Map<string, string>()
  for (const word of text.split(/[\s,;]+/u).filter((one) => one !== '')) {
    const label = splitLabel(word)
    if (label === undefined || wanted.has(label.key)) return { ok: false, word }
    wanted.set(label.key, label.value)
  }
  const present = new Map(
    given
      .map(splitLabel)
      .filter((label): label is Label => label !== undefined)
      .map(({ key, value }) => [key, value]),
  )
  return {
    ok: true,
    set: Object.fromEntries([...wanted].filter(([key, value]) => present.get(key) !== value)),
    remove: [...present.keys()].filter((key) => !wanted.has(key)),
  }
}
