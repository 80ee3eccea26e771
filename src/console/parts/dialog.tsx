// A question over the screen: the browser's own dialog, which holds the focus, closes with Escape, and gives the focus back. Once
// something is typed into it, nobody leaves the screen unasked.

import { useEffect, useRef } from 'preact/hooks'
import type { ComponentChildren, JSX } from 'preact'
import { useTyped } from '../frame/unsent.ts'

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
      onInput={useTyped()}
      onClose={onClose}
    >
      <header>
        <h2>{title}</h2>
      </header>
      {children}
    </dialog>
  )
}
