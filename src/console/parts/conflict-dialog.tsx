// Two people changed one thing: what was on the screen, what is there now and by whom, and what this one wants of what is there.

import type { JSX } from 'preact'
import { useUnsent } from '../frame/unsent.ts'
import { words } from '../words/words.ts'
import { Dialog } from './dialog.tsx'
import { describeTime } from './time.tsx'

export interface ConflictField {
  readonly label: string
  readonly seen: string
  readonly present: string
  /** With what somebody else changed, unless this one changed it too. */
  readonly wanted: string
  /** Both changed it. */
  readonly isClash?: boolean
}

export interface ConflictDialogProperties {
  readonly title: string
  readonly fields: readonly ConflictField[]
  /** Who changed it, and when, as far as the log says. */
  readonly by?: { readonly actor: string; readonly at: string } | undefined
  /** Sends what is wanted once more, now for what is there. */
  readonly onOverwrite: () => void
  /** Goes on from what is there; undefined where that cannot be read. */
  readonly onTake?: () => void
  readonly onClose: () => void
}

export function ConflictDialog(properties: ConflictDialogProperties): JSX.Element {
  const { title, fields, by, onOverwrite, onTake, onClose } = properties
  const { acts } = words()
  useUnsent(true)
  return (
    <Dialog title={title} onClose={onClose} isWide>
      <div class="body">
        <p class="muted">
          {by === undefined
            ? acts.changedMeanwhile
            : acts.changedBy(by.actor, describeTime(by.at, { withSeconds: true }))}
        </p>
        <table class="conflict">
          <thead>
            <tr>
              <td />
              <th scope="col">{acts.seen}</th>
              <th scope="col">{acts.present}</th>
              <th scope="col">{acts.wanted}</th>
            </tr>
          </thead>
          <tbody>
            {fields.map(({ label, seen, present, wanted, isClash = false }) => (
              <tr key={label}>
                <th scope="row">
                  {label}
                  {isClash && <div class="c-late">{acts.clash}</div>}
                </th>
                <td>{seen}</td>
                <td>{present === seen ? present : <mark class="changed">{present}</mark>}</td>
                <td>{wanted === present ? wanted : <mark class="wanted">{wanted}</mark>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div class="dialog-actions">
        <button type="button" class="button" onClick={onClose}>
          {acts.goOn}
        </button>
        {onTake !== undefined && (
          <button type="button" class="button" onClick={onTake}>
            {acts.takePresent}
          </button>
        )}
        <button type="button" class="button primary" onClick={onOverwrite}>
          {acts.overwrite}
        </button>
      </div>
    </Dialog>
  )
}
