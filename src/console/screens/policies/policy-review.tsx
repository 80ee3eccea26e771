// What the politica would mean, by the hub itself, and the button that sets it.

import { useEffect } from 'preact/hooks'
import type { JSX } from 'preact'
import { HubError } from '../../api/hub-error.ts'
import { useRehearsal } from '../../parts/act-dialog.tsx'
import { Failure } from '../../parts/answer.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { useAct } from '../../parts/use-act.ts'
import { words } from '../../words/words.ts'
import type { PolicyBounds, PolicyDecision, Target } from './describe-policy.ts'
import { askPolitica } from './use-politica.ts'
import { Foreseen, requestOf } from './policy-foreseen.tsx'
import { Differences } from './differences.tsx'

export function PolicyReview({
  target,
  bounds,
  decision: { differences },
  etag,
  onConflict,
  onClose,
  onDone,
}: {
  readonly target: Target
  readonly bounds: PolicyBounds
  readonly decision: PolicyDecision
  readonly etag: string | undefined
  readonly onConflict: () => void
  readonly onClose: () => void
  readonly onDone: () => void
}): JSX.Element {
  const { policies: text, acts } = words()
  const name = target.kind === 'role' ? 'setPolicy' : 'setSelectorPolicy'
  const request = requestOf(target, bounds)
  const act = useAct(name)
  const { rehearsal, error } = useRehearsal(name, request)
  const isConflict = act.error instanceof HubError && act.error.status === 412
  useEffect(() => {
    if (isConflict) onConflict()
  }, [isConflict])
  const apply = async (): Promise<void> => {
    // What was not there has no tag: somebody else may have made it meanwhile.
    if (etag === undefined && (await isThere(target))) return onConflict()
    const done = await act.run(request, {
      ifMatch: etag,
      done: acts.done,
      about: text.setTitle(target.kind === 'role' ? target.role : target.nome),
    })
    if (done !== undefined) onDone()
  }
  return (
    <Dialog title={text.reviewTitle} onClose={onClose} isWide>
      <div class="body form">
        <Differences differences={differences} />
        {rehearsal?.politica !== undefined && <Foreseen foreseen={rehearsal.politica} />}
      </div>
      {error !== undefined && <Failure error={error} />}
      {act.error !== undefined && !isConflict && <Failure error={act.error} />}
      <div class="dialog-actions">
        <button type="button" class="button" onClick={onClose}>
          {acts.goOn}
        </button>
        <button
          type="button"
          class="button primary"
          disabled={act.isBusy || rehearsal === undefined}
          onClick={() => void apply()}
        >
          {act.isBusy ? acts.busy : text.apply}
        </button>
      </div>
    </Dialog>
  )
}

async function isThere(target: Target): Promise<boolean> {
  try {
    return (await askPolitica(target)).etag !== undefined
  } catch {
    // The act itself meets the same trouble, and says it.
    return false
  }
}
