// J and K go through the rows of the list on the screen, as the arrow keys of a mail program do; Enter follows the link that has the focus.

import { useEffect } from 'preact/hooks'
import { bindLetters } from './keys.ts'

export function useRowKeys(): void {
  useEffect(() => bindLetters({ j: () => step(1), k: () => step(-1) }), [])
}

function step(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>('main a.whole-row')]
  const at = links.findIndex((link) => link === document.activeElement)
  const next = links[at === -1 ? (by === 1 ? 0 : links.length - 1) : at + by]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}
