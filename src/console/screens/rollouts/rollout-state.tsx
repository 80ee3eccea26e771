// The state of a rollout, as an icon and a word; and what it is of.

import type { JSX } from 'preact'
import type { AdminReplies } from '../../api/operations.ts'
import type { IconName } from '../../parts/icon.tsx'
import { Pill, type Tone } from '../../parts/pill.tsx'
import { words } from '../../words/words.ts'

const LOOKS: Readonly<Record<string, readonly [Tone, IconName]>> = {
  running: ['info', 'waves'],
  paused: ['due', 'alarm'],
  frozen: ['late', 'snowflake'],
  undoing: ['due', 'rotate'],
  undone: ['off', 'rotate'],
  done: ['ok', 'check'],
}

export function RolloutState({ state }: { readonly state: string }): JSX.Element {
  const [tone, icon] = LOOKS[state] ?? (['off', 'more'] as const)
  return <Pill tone={tone} icon={icon} text={words().rollouts.states[state] ?? state} />
}

/** A kind that this page does not know has its own name. */
export function nameOfRollout({
  nome,
  kind,
}: Pick<AdminReplies['showRollout'], 'nome'> & { readonly kind: string }): string {
  const kinds: Readonly<Record<string, string>> = words().overview.kinds
  return nome ?? kinds[kind] ?? kind
}
