// The freeze that holds, if one does: until when, why, and its end.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import type { AdminReplies } from '../../api/operations.ts'
import { useQuery } from '../../api/query.ts'
import { zone } from '../../frame/preferences.ts'
import { ActDialog, Rehearsed, useRehearsal } from '../../parts/act-dialog.tsx'
import { Answer } from '../../parts/answer.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import { IfAllowed } from '../../parts/if-allowed.tsx'
import { describeTime, nameOfZone } from '../../parts/time.tsx'
import { useAct } from '../../parts/use-act.ts'
import { useSettled } from '../../parts/use-settled.ts'
import { FormFoot } from '../../parts/form-foot.tsx'
import { words } from '../../words/words.ts'
import { readUntil, writeUntil } from './decide-rollout-acts.ts'

type ShownFreeze = AdminReplies['showFreeze']

export function FreezeCard(): JSX.Element {
  const { rollouts } = words()
  const shown = useQuery('showFreeze', {})
  return (
    <section class="card" aria-labelledby="freeze">
      <header>
        <h2 id="freeze">{rollouts.freeze}</h2>
      </header>
      <Answer shown={shown.value}>{(freeze) => <Freeze shown={freeze} />}</Answer>
    </section>
  )
}

function Freeze({
  shown: { freeze, rollouts: held },
}: {
  readonly shown: ShownFreeze
}): JSX.Element {
  const { rollouts } = words()
  const [acting, setActing] = useState<'set' | 'end' | undefined>(undefined)
  return (
    <div class="body row freeze">
      {freeze === null ? (
        <p class="muted grow">{rollouts.noFreeze}</p>
      ) : (
        <div class="grow">
          <p class="c-late row">
            <Icon name="snowflake" />
            <b>{rollouts.frozenUntil(describeTime(freeze.until))}</b>
          </p>
          <p>{rollouts.frozenWhy(freeze.why, freeze.set_by)}</p>
          <p class="muted">{rollouts.held(held)}</p>
        </div>
      )}
      <IfAllowed name="setFreeze">
        <button type="button" class="button" onClick={() => setActing('set')}>
          <Icon name="snowflake" small />
          {freeze === null ? rollouts.setFreeze : rollouts.changeFreeze}
        </button>
      </IfAllowed>
      {freeze !== null && (
        <IfAllowed name="endFreeze">
          <button type="button" class="button" onClick={() => setActing('end')}>
            {rollouts.endFreeze}
          </button>
        </IfAllowed>
      )}
      {acting === 'set' && <FreezeDialog present={freeze} onClose={() => setActing(undefined)} />}
      {acting === 'end' && (
        <ActDialog
          title={rollouts.endTitle}
          name="endFreeze"
          request={{}}
          label={rollouts.endButton}
          onClose={() => setActing(undefined)}
        >
          <p>{rollouts.endText}</p>
        </ActDialog>
      )}
    </div>
  )
}

function FreezeDialog({
  present,
  onClose,
}: {
  /** The one that is changed. */
  readonly present: ShownFreeze['freeze']
  readonly onClose: () => void
}): JSX.Element {
  const { rollouts, acts, frame } = words()
  const act = useAct('setFreeze')
  const [title] = useState(present === null ? rollouts.freezeTitle : rollouts.changeFreezeTitle)
  const [typed, setTyped] = useState(
    present === null ? '' : () => writeUntil(present.until, zone.value),
  )
  const [why, setWhy] = useState(present?.why ?? '')
  const until = readUntil(typed, zone.value)
  const request = until === undefined || why.trim() === '' ? undefined : { until, why: why.trim() }
  const { rehearsal, error } = useRehearsal('setFreeze', useSettled(request))
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    if (request === undefined || act.isBusy) return
    if ((await act.run(request, { done: acts.done })) !== undefined) onClose()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <div class="body form">
          <p>{rollouts.freezeText}</p>
          <label>
            {rollouts.until} ({zone.value === 'utc' ? frame.utc : nameOfZone()})
            <input
              type="datetime-local"
              step="any"
              value={typed}
              onInput={({ currentTarget }) => setTyped(currentTarget.value)}
              required
            />
          </label>
          <label>
            {rollouts.why}
            <input
              value={why}
              maxLength={512}
              onInput={({ currentTarget }) => setWhy(currentTarget.value)}
              required
            />
          </label>
          {rehearsal !== undefined && <Rehearsed rehearsal={rehearsal} />}
        </div>
        <FormFoot
          errors={[error, act.error]}
          label={title}
          isReady={request !== undefined && error === undefined}
          isBusy={act.isBusy}
          onClose={onClose}
        />
      </form>
    </Dialog>
  )
}
