// The question before something is lost that was typed, or is shown once.

import type { JSX } from 'preact'
import { Dialog } from '../parts/dialog.tsx'
import { words } from '../words/words.ts'
import { leaving } from './unsent.ts'

export function LeaveDialog(): JSX.Element | null {
  const { frame } = words()
  const { value } = leaving
  if (value === undefined) return null
  const stay = (): void => {
    leaving.value = undefined
  }
  const leave = (): void => {
    stay()
    value.go()
  }
  return (
    <Dialog title={frame.leaveTitle} onClose={stay}>
      <p class="body">{frame.leaveText[value.what]}</p>
      <div class="dialog-actions">
        <button type="button" class="button danger" onClick={leave}>
          {frame.leave}
        </button>
        <button type="button" class="button primary" onClick={stay} autofocus>
          {frame.stay}
        </button>
      </div>
    </Dialog>
  )
}
