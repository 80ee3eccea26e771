// What happens elsewhere on the screen, told to who does not see it; politely, one sentence at a time.

import { signal } from '@preact/signals'
import type { JSX } from 'preact'

const sentence = signal('')

export function announce(text: string): void {
  sentence.value = text
}

export function LiveRegion(): JSX.Element {
  return (
    <div class="visually-hidden" role="status" aria-live="polite">
      {sentence.value}
    </div>
  )
}
