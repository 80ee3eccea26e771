// The end of a form over the screen: why it failed, and the buttons that leave it or send it.

import type { JSX } from 'preact'
import { words } from '../words/words.ts'
import { Failure } from './answer.tsx'

export function FormFoot({
  errors,
  label,
  isReady,
  isBusy,
  isDangerous = false,
  onClose,
}: {
  /** Of what was tried; undefined where nothing failed. */
  readonly errors: readonly (Error | undefined)[]
  /** On the button that sends it. */
  readonly label: string
  readonly isReady: boolean
  readonly isBusy: boolean
  readonly isDangerous?: boolean
  readonly onClose: () => void
}): JSX.Element {
  const { acts } = words()
  return (
    <>
      {errors.map((error, at) => error !== undefined && <Failure key={at} error={error} />)}
      <div class="dialog-actions">
        <button type="button" class="button" onClick={onClose}>
          {acts.cancel}
        </button>
        <button
          type="submit"
          class={isDangerous ? 'button danger' : 'button primary'}
          disabled={!isReady || isBusy}
        >
          {isBusy ? acts.busy : label}
        </button>
      </div>
    </>
  )
}
