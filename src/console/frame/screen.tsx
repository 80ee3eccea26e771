// What every screen has: its title, the word of the wire, what it is as commands of `svc`, and its content.

import { useEffect } from 'preact/hooks'
import { signal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'

export interface ScreenHead {
  readonly title: string
  /** As on the wire: `agente`. */
  readonly wire?: string | undefined
  /** Where this screen was reached from: label and href. */
  readonly above?: readonly [label: string, href: string] | undefined
  /** The same as commands of `svc`. */
  readonly commands?: readonly string[] | undefined
}

/** Of the screen that is shown; the top of the frame says it. */
export const head = signal<ScreenHead>({ title: '' })

export function Screen({
  children,
  ...shown
}: ScreenHead & { readonly children: ComponentChildren }): JSX.Element {
  useEffect(() => {
    head.value = shown
    document.title = `${shown.title} · Cartorio`
  }, [JSON.stringify(shown)])
  return <>{children}</>
}
