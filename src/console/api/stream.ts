// Doorbells of the hub: something happened, of these types. Browsers open six connections to an origin, so one tab reads the stream,
// the one that holds the lock, and tells the others.

import { signal } from '@preact/signals'

/** `live` while doorbells ring; `waiting` while screens ask by themselves every fifteen seconds. */
export const streamState = signal<'live' | 'waiting'>('waiting')

/** Undefined: anything may have changed. */
type Ring = (tipos: ReadonlySet<string> | undefined) => void

const listeners = new Set<Ring>()

/** Answers how to stop listening. */
export function onRing(ring: Ring): () => void {
  listeners.add(ring)
  return () => {
    listeners.delete(ring)
  }
}

export function ringDoorbell(tipos: ReadonlySet<string> | undefined): void {
  for (const ring of listeners) ring(tipos)
}
