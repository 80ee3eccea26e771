// Why the file was not delivered, and, when nobody knows whether it was, the way to send it once more.

import type { JSX } from 'preact'
import { Failure } from '../../parts/answer.tsx'
import { formatCount } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'
import type { SealStep } from './use-sealing.ts'

export function SealTrouble({
  state,
  onBack,
}: {
  readonly state: SealStep
  readonly onBack: () => void
}): JSX.Element | null {
  const { seal, acts } = words()
  if (state.step === 'unanswered') {
    return (
      <>
        <Failure error={state.error} />
        <div class="row">
          <button type="button" class="button primary" onClick={() => void state.again()}>
            {seal.sendAgain}
          </button>
          <button type="button" class="button" onClick={onBack}>
            {acts.goOn}
          </button>
        </div>
      </>
    )
  }
  if (state.step !== 'form') return null
  if (state.error !== undefined) return <Failure error={state.error} />
  if (state.tooLarge === undefined) return null
  const { bytes, most, recipients } = state.tooLarge
  return (
    <p class="c-bad" role="alert">
      {recipients === undefined
        ? seal.tooLarge(formatCount(bytes), formatCount(most))
        : seal.sealedTooLarge(recipients, formatCount(bytes), formatCount(most))}
    </p>
  )
}
