// Failed deliveries that are tried again: first what the hub would do, and whether it helps.

import type { JSX } from 'preact'
import type { AdminRequest } from '../../api/operations.ts'
import { svc } from '../../commands/svc.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { Command } from '../../parts/command.tsx'
import { words } from '../../words/words.ts'
import { decideRetry } from './decide-retry.ts'

export interface RetryDialogProperties {
  readonly title: string
  readonly request: AdminRequest<'retryDeliveries'>
  /** What the hosts said; several where what is retried failed for several reasons. */
  readonly reasons: readonly string[]
  /** Of the carga, for the command that seals it again. */
  readonly nome: string
  readonly onClose: () => void
}

export function RetryDialog({
  title,
  request,
  reasons,
  nome,
  onClose,
}: RetryDialogProperties): JSX.Element {
  const { deliveries } = words()
  const places = [...new Set(reasons.map(decideRetry))]
  return (
    <ActDialog
      title={title}
      name="retryDeliveries"
      request={request}
      label={deliveries.retryButton}
      onClose={onClose}
    >
      {reasons.length === 1 && reasons[0] !== '' && <p class="reason">{reasons[0]}</p>}
      <p>{deliveries.retryText}</p>
      {places.map((place) => (
        <p key={place} class={place === 'passing' ? 'muted' : 'c-late'}>
          {deliveries.again[place]}
        </p>
      ))}
      {places.includes('seal') && <Command text={svc.resealCargo(nome)} />}
    </ActDialog>
  )
}
