// A form over the screen, with the buttons that send it or leave it.

import type { ComponentChildren, JSX } from 'preact'
import { Dialog } from './dialog.tsx'
import { FormFoot } from './form-foot.tsx'

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
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (isReady && !isBusy) void onSubmit()
        }}
      >
        <div class="body form">{children}</div>
        <FormFoot errors={[error]} {...{ label, isReady, isBusy, onClose }} />
      </form>
    </Dialog>
  )
}
