// Hosts renew their identities, or hear of a newer agent, in waves. How many each wave reaches is shown before anything starts.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { svc } from '../../commands/svc.ts'
import { goTo, hrefOf } from '../../frame/router.ts'
import { Rehearsed, useRehearsal } from '../../parts/act-dialog.tsx'
import { Command } from '../../parts/command.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { FormFoot } from '../../parts/form-foot.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { useAct } from '../../parts/use-act.ts'
import { useSettled } from '../../parts/use-settled.ts'
import { words } from '../../words/words.ts'
import { WAVES_DRAFT } from '../cargo/read-form.ts'
import { WavePlan } from '../cargo/wave-plan.tsx'
import { WavesFields } from '../cargo/waves-fields.tsx'
import { readStart, type Start, type StartDraft } from './read-start.ts'

const EMPTY: StartDraft = { whom: 'all', where: '', programa: '', waves: WAVES_DRAFT }
const NAMES = { rotation: 'startRotation', update: 'startUpdate' } as const

export function StartDialog({
  start,
  onClose,
}: {
  readonly start: Start
  readonly onClose: () => void
}): JSX.Element {
  const { rollouts: text, acts } = words()
  const name = NAMES[start]
  const act = useAct<'startRotation' | 'startUpdate'>(name)
  const [draft, setDraft] = useState(EMPTY)
  const request = readStart(start, draft)
  const settled = useSettled(request)
  const { rehearsal, error } = useRehearsal<'startRotation' | 'startUpdate'>(name, settled)
  const isShown = rehearsal !== undefined && JSON.stringify(settled) === JSON.stringify(request)
  const set = (change: Partial<StartDraft>): void => setDraft({ ...draft, ...change })
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    // What is not shown yet is not done.
    if (request === undefined || !isShown || act.isBusy) return
    const reply = await act.run(request, { done: acts.done })
    if (reply !== undefined) goTo(hrefOf(`/rollouts/${reply.id}`), { isReplacing: true })
  }
  return (
    <Dialog title={text.startTitles[start]} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <div class="body form">
          <p>{text.startTexts[start]}</p>
          {start === 'update' && (
            <TextField
              label={text.programa}
              value={draft.programa}
              onValue={(programa) => set({ programa })}
              hint={text.programaHint}
            />
          )}
          <label>
            {text.whom}
            <select
              value={draft.whom}
              onChange={({ currentTarget: { value } }) =>
                set({ whom: value === 'where' ? 'where' : 'all' })
              }
            >
              <option value="all">{text.whomAll}</option>
              <option value="where">{text.whomWhere}</option>
            </select>
          </label>
          {draft.whom === 'where' && (
            <TextField
              label={text.where}
              value={draft.where}
              onValue={(where) => set({ where })}
              hint={text.whereHint}
            />
          )}
          <WavesFields draft={draft.waves} onChange={(waves) => set({ waves })} />
          {isShown && <WavePlan rehearsal={rehearsal} />}
          {isShown && <Rehearsed rehearsal={rehearsal} />}
          {request !== undefined && (
            <Command text={svc.startRollout(start === 'rotation' ? 'rotate' : 'update', request)} />
          )}
        </div>
        <FormFoot
          errors={[request && error, act.error]}
          label={text.startButton}
          isReady={isShown}
          isBusy={act.isBusy}
          onClose={onClose}
        />
      </form>
    </Dialog>
  )
}
