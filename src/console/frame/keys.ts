// Keys that work everywhere. Single letters can be turned off, since who dictates to the browser types them by accident.

import { isFindOpen, openFind } from './find-state.ts'
import { letterKeys } from './preferences.ts'

/** What the screen that is shown does with a letter: `j`, `k`. */
const ofScreen = new Map<string, () => void>()

/** Answers how to take them back. */
export function bindLetters(letters: Readonly<Record<string, () => void>>): () => void {
  for (const [letter, act] of Object.entries(letters)) ofScreen.set(letter, act)
  return () => {
    for (const letter of Object.keys(letters)) ofScreen.delete(letter)
  }
}

export function listenToKeys(): void {
  document.addEventListener('keydown', (event) => {
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault()
      return openFind()
    }
    if (event.metaKey || event.ctrlKey || event.altKey || letterKeys.value === 'off') return
    if (isTyping(event.target) || isFindOpen.value) return
    if (event.key === '/' || event.key === '?') {
      event.preventDefault()
      return openFind()
    }
    const act = ofScreen.get(event.key.toLowerCase())
    if (act === undefined) return
    event.preventDefault()
    act()
  })
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof Element && target.closest('input, textarea, select, dialog, summary') !== null
  )
}
