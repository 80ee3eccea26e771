// Whether ⌘K is open; apart from its dialog, which is loaded when it first opens.

import { signal } from '@preact/signals'

export const isFindOpen = signal(false)

export function openFind(): void {
  isFindOpen.value = true
}
