// A line, or lines, of a form, with what to write there and what is wrong with what is there.

import type { JSX } from 'preact'
import { useForget } from './use-forget.ts'
import { words } from '../words/words.ts'

interface TextFieldProperties {
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly hint?: string
  /** In place of the hint. */
  readonly fault?: string | undefined
  readonly isOptional?: boolean
  /** More than one line. */
  readonly rows?: number
  /** Nobody else who signs in over the screen has it. */
  readonly isSecret?: boolean
}

export function TextField({
  label,
  value,
  onValue,
  hint = '',
  fault,
  isOptional = false,
  rows,
  isSecret = false,
}: TextFieldProperties): JSX.Element {
  const { acts } = words()
  useForget(() => {
    if (isSecret) onValue('')
  })
  const says = fault ?? hint
  const common = {
    value,
    spellcheck: false,
    required: !isOptional,
    autocomplete: 'off',
    'aria-invalid': fault !== undefined,
  } as const
  return (
    <label>
      {isOptional ? `${label} (${acts.optional})` : label}
      {rows === undefined ? (
        <input
          {...common}
          {...(isSecret ? ({ type: 'password' } as const) : ({ type: 'text' } as const))}
          maxLength={4096}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
      ) : (
        <textarea
          {...common}
          rows={rows}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
      )}
      {says !== '' && <span class="hint">{says}</span>}
    </label>
  )
}
