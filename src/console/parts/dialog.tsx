// A question over the screen: the browser's own dialog, which holds the focus, closes with Escape, and gives the focus back.

import { useEffect, useRef } from 'preact/hooks'
import type { ComponentChildren, JSX } from 'preact'

export interface DialogProperties {
  readonly title: string
  readonly onClose: () => void
  readonly isWide?: boolean
  readonly children: ComponentChildren
}

export function Dialog({
  title,
  onClose,
  isWide = false,
  children,
}: DialogProperties): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog
      ref={dialog}
      class={isWide ? 'card wide-dialog' : 'card'}
      aria-label={title}
      onClose={onClose}
    >
      <header>
        <h2>{title}</h2>
      </header>
      {children}
    </dialog>
  )
}
