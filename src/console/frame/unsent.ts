// What would be lost by leaving the screen: what was typed and not sent, and secrets that are shown once. Somebody is asked before.

import { signal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'

export type Unsent = 'typed' | 'secret'

interface Leaving {
  readonly what: Unsent
  readonly go: () => void
}

const held = new Map<object, Unsent>()

/** Where somebody wanted to go; undefined while nobody is asked. */
export const leaving = signal<Leaving | undefined>(undefined)

/** Before the next click: an effect after the frame would be too late for it. */
export function useUnsent(isUnsent: boolean, what: Unsent = 'typed'): void {
  useLayoutEffect(() => {
    if (!isUnsent) return undefined
    const own = {}
    held.set(own, what)
    return () => {
      held.delete(own)
    }
  }, [isUnsent, what])
}

/** Answers what to call when something is typed. Nothing is drawn again for it: a box is checked between two events of one click. */
export function useTyped(): (event: Event) => void {
  const { current: own } = useRef({})
  useEffect(() => () => void held.delete(own), [])
  return ({ target }) => {
    if (!(target instanceof HTMLSelectElement)) held.set(own, 'typed')
  }
}

export function hasUnsent(): boolean {
  return held.size > 0
}

/** Goes at once where nothing would be lost. */
export function goOrAsk(go: () => void): void {
  if (!hasUnsent()) return go()
  leaving.value = { what: [...held.values()].includes('secret') ? 'secret' : 'typed', go }
}

/** The browser asks in its own words. */
export function askBeforeUnload(): void {
  addEventListener('beforeunload', (event) => {
    if (hasUnsent()) event.preventDefault()
  })
}
