// Sends again: what the hub gave up, what is from a time or an entry on, or what waits, at once.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import type { AdminReplies, AdminRequest } from '../../api/operations.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { words } from '../../words/words.ts'

const KINDS = ['now', 'dead', 'seq', 'since'] as const
type Kind = (typeof KINDS)[number]

export function ReplayDialog({
  webhook: { id, dead },
  onClose,
}: {
  readonly webhook: AdminReplies['showWebhook']
  readonly onClose: () => void
}): JSX.Element {
  const { webhooks: text } = words()
  const [kind, setKind] = useState<Kind>(dead > 0 ? 'dead' : 'now')
  const [from, setFrom] = useState('')
  return (
    <ActDialog
      title={text.replay}
      name="replayWebhook"
      request={requestOf(id, kind, from.trim())}
      label={text.replayButton}
      onClose={onClose}
    >
      <label>
        {text.whichOnes}
        <select
          value={kind}
          onChange={({ currentTarget }) =>
            setKind(KINDS.find((one) => one === currentTarget.value) ?? 'now')
          }
        >
          {KINDS.map((one) => (
            <option key={one} value={one}>
              {text.replays[one]}
            </option>
          ))}
        </select>
      </label>
      {(kind === 'seq' || kind === 'since') && (
        <TextField
          label={text.replays[kind]}
          value={from}
          onValue={setFrom}
          hint={text.replayHints[kind]}
        />
      )}
    </ActDialog>
  )
}

/** What is typed by half is refused by the hub, in words. */
function requestOf(webhook: string, kind: Kind, from: string): AdminRequest<'replayWebhook'> {
  if (kind === 'dead') return { webhook, dead: true }
  if (kind === 'seq') return { webhook, seq: Number(from) }
  return kind === 'since' ? { webhook, since: from } : { webhook }
}
