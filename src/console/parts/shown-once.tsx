// A secret that only this reply of the hub has: shown until somebody closes it, with what to do with it.

import type { ComponentChildren, JSX } from 'preact'
import { useUnsent } from '../frame/unsent.ts'
import { words } from '../words/words.ts'
import { Command } from './command.tsx'
import { Dialog } from './dialog.tsx'
import { useForget } from './use-forget.ts'

export function ShownOnce({
  title,
  secret,
  onClose,
  children,
}: {
  readonly title: string
  /** None where the hub made none. */
  readonly secret?: string | undefined
  readonly onClose: () => void
  readonly children?: ComponentChildren
}): JSX.Element {
  const { acts } = words()
  useUnsent(secret !== undefined, 'secret')
  useForget(onClose)
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="body form">
        {secret !== undefined && (
          <>
            <p>{acts.shownOnce}</p>
            <Command text={secret} />
          </>
        )}
        {children}
      </div>
      <div class="dialog-actions">
        <button type="button" class="button primary" onClick={onClose}>
          {secret === undefined ? acts.close : acts.haveCopied}
        </button>
      </div>
    </Dialog>
  )
}
