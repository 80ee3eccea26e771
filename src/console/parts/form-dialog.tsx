// A form over the screen, with the buttons that send it or leave it.

import type { ComponentChildren, JSX } from 'preact'
import { words } from '../words/words.ts'
import { Failure } from './answer.tsx'
import { Dialog } from './dialog.tsx'

export function FormDialog({
  title,
  label,
  isReady,
  isBusy,
  error,
  onSubmit,
  onClose,
  children,
}: {
  readonly title: string
  /** On the button. */
  readonly label: string
  readonly isReady: boolean
  readonly isBusy: boolean
  readonly error: Error | undefined
  readonly onSubmit: () => Promise<void>
  readonly onClose: () => void
  readonly children: ComponentChildren
}): JSX.Element {
  const { acts } = words()
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (isReady && !isBusy) void onSubmit()
        }}
      >
        <div class="body form">{children}</div>
        {error !== undefined && <Failure error={error} />}
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            {acts.cancel}
          </button>
          <button type="submit" class="button primary" disabled={!isReady || isBusy}>
            {isBusy ? acts.busy : label}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
