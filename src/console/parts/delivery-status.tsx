// The status of a delivery, as an icon and a word.

import type { JSX } from 'preact'
import { words } from '../words/words.ts'
import type { IconName } from './icon.tsx'
import { Pill, type Tone } from './pill.tsx'

const LOOKS: Readonly<Record<string, readonly [Tone, IconName]>> = {
  pendente: ['info', 'alarm'],
  em_andamento: ['info', 'refresh'],
  instalada: ['ok', 'check'],
  entregue: ['ok', 'check'],
  falhou: ['bad', 'x'],
  revertida: ['bad', 'rotate'],
}
const OTHERWISE = ['off', 'more'] as const

export function DeliveryStatus({
  delivery: { status, reverted_at: revertedAt, waiting_reason: reason },
}: {
  readonly delivery: {
    readonly status: string
    readonly reverted_at: string | null
    readonly waiting_reason: string | null
  }
}): JSX.Element {
  const shown = revertedAt === null ? status : 'revertida'
  const [tone, icon] = LOOKS[shown] ?? OTHERWISE
  return (
    <Pill
      tone={reason !== null && tone === 'info' ? 'late' : tone}
      icon={icon}
      text={words().host.statuses[shown] ?? shown}
    />
  )
}
