// A text that filters, kept in the URL: at once for what is a part of a name, on Enter for what has to be whole.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { here, setQuery } from '../frame/router.ts'
import { Icon } from './icon.tsx'

const TYPING_MS = 120

export function FilterField({
  label,
  name,
  isInstant = false,
}: {
  readonly label: string
  /** Of the parameter in the URL. */
  readonly name: string
  readonly isInstant?: boolean
}): JSX.Element {
  const known = here.value.query[name] ?? ''
  const [typed, setTyped] = useState(known)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  // Back and forward, or a click that clears it.
  useEffect(() => setTyped(known), [known])
  useEffect(() => () => clearTimeout(timer.current), [])
  const apply = (text: string): void => {
    clearTimeout(timer.current)
    setQuery({ [name]: text.trim() }, { isReplacing: true })
  }
  return (
    <label class="field filter-text">
      <Icon name="search" small />
      <span class="visually-hidden">{label}</span>
      <input
        type="search"
        placeholder={label}
        value={typed}
        spellcheck={false}
        onInput={({ currentTarget: { value } }) => {
          setTyped(value)
          if (!isInstant) return
          clearTimeout(timer.current)
          timer.current = setTimeout(() => apply(value), TYPING_MS)
        }}
        onChange={({ currentTarget: { value } }) => apply(value)}
      />
    </label>
  )
}
