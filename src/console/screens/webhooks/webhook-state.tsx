// How a webhook is, as an icon and a word.

import type { JSX } from 'preact'
import type { AdminReplies } from '../../api/operations.ts'
import type { IconName } from '../../parts/icon.tsx'
import { Pill, type Tone } from '../../parts/pill.tsx'
import { words } from '../../words/words.ts'

type State = AdminReplies['listWebhooks']['webhooks'][number]['state']

const LOOKS: Readonly<Record<State, readonly [Tone, IconName]>> = {
  active: ['ok', 'check'],
  failing: ['late', 'alarm'],
  disabled: ['bad', 'x'],
}

export function WebhookState({ state }: { readonly state: State }): JSX.Element {
  const [tone, icon] = LOOKS[state]
  return <Pill tone={tone} icon={icon} text={words().webhooks.states[state]} />
}
