// Whether there is little room, as the style sheet has it: pictures are drawn for one of two widths.

import { signal } from '@preact/signals'

const query = matchMedia('(max-width: 860px)')
const narrow = signal(query.matches)
query.addEventListener('change', ({ matches }) => (narrow.value = matches))

export function isNarrow(): boolean {
  return narrow.value
}
