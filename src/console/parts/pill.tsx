// A state: an icon and a word, never a colour alone.

import type { JSX } from 'preact'
import { Icon, type IconName } from './icon.tsx'

export type Tone = 'ok' | 'due' | 'late' | 'bad' | 'info' | 'off'

export function Pill({
  tone,
  icon,
  text,
}: {
  readonly tone: Tone
  readonly icon: IconName
  readonly text: string
}): JSX.Element {
  return (
    <span class={`pill ${tone}`}>
      <Icon name={icon} small />
      {text}
    </span>
  )
}
