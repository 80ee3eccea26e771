// Which hosts a carga is for from now on: those that match a selector, or those that have it. Who matches is shown before.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { HubError } from '../../api/hub-error.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { useQuery } from '../../api/query.ts'
import { svc } from '../../commands/svc.ts'
import { useUnsent } from '../../frame/unsent.ts'
import { Rehearsed, useRehearsal } from '../../parts/act-dialog.tsx'
import { Failure } from '../../parts/answer.tsx'
import { Command } from '../../parts/command.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { mergeField } from '../../parts/merge-field.ts'
import { TextField } from '../../parts/text-field.tsx'
import { useAct } from '../../parts/use-act.ts'
import { useSettled } from '../../parts/use-settled.ts'
import { words } from '../../words/words.ts'
import { CargoConflictDialog } from './cargo-conflict.tsx'
import { type CargoConflict, readConflict } from './read-conflict.ts'

type Cargo = AdminReplies['showCargo']

export function SelectDialog({
  cargo: first,
  onClose,
}: {
  readonly cargo: Cargo
  readonly onClose: () => void
}): JSX.Element {
  const { cargo: text, acts } = words()
  // As it was when the form was opened: what comes meanwhile is a conflict, and changes no form.
  const [seen, setSeen] = useState(first)
  const [isSelected, setSelected] = useState(true)
  const [typed, setTyped] = useState(first.where ?? '')
  const [conflict, setConflict] = useState<CargoConflict | undefined>(undefined)
  const [failed, setFailed] = useState<Error | undefined>(undefined)
  const act = useAct('selectCargo')
  const where = isSelected ? typed.trim() : null
  useUnsent(where !== (seen.where ?? ''))
  const request = where === '' ? undefined : { carga: seen.id, where }
  const settled = useSettled(request)
  const { rehearsal, error } = useRehearsal('selectCargo', settled)
  const isShown = rehearsal !== undefined && JSON.stringify(settled) === JSON.stringify(request)

  const send = async (basis: Cargo, selector = where): Promise<void> => {
    const options = { ifMatch: `"${basis.versao}"`, done: acts.done }
    if ((await act.run({ carga: basis.id, where: selector }, options)) !== undefined) onClose()
  }
  const look = async (): Promise<CargoConflict | undefined> =>
    readConflict(seen.id).catch((problem: unknown) => {
      setFailed(problem as Error)
      return undefined
    })
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    // What is not shown yet is not done.
    if (!isShown || act.isBusy) return
    // A selector makes no other versao, so the hub does not refuse one that came meanwhile: this page looks.
    const found = await look()
    if (found === undefined) return
    if (found.present.where !== seen.where || found.present.versao !== seen.versao) {
      return setConflict(found)
    }
    await send(seen)
  }
  if (conflict !== undefined) {
    const { present } = conflict
    const { merged, isClash } = mergeField(seen.where, present.where, where)
    const goOn = (from: string | null): void => {
      setConflict(undefined)
      act.clear()
      setSeen(present)
      setSelected(from !== null)
      setTyped(from ?? '')
    }
    return (
      <CargoConflictDialog
        seen={seen}
        conflict={conflict}
        isNext={false}
        field={{
          label: text.selection,
          read: (one) => one.where ?? text.none,
          wanted: merged ?? text.none,
          isClash,
        }}
        onOverwrite={() => {
          goOn(merged)
          void send(present, merged)
        }}
        onTake={() => goOn(present.where)}
        onClose={() => setConflict(undefined)}
      />
    )
  }
  const isRefused = act.error instanceof HubError && act.error.status === 412
  const wanted = settled?.where ?? undefined
  return (
    <Dialog title={text.selectTitle(seen.nome)} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <div class="body form">
          <label>
            {text.who}
            <select
              value={isSelected ? 'where' : 'none'}
              onChange={({ currentTarget: { value } }) => setSelected(value === 'where')}
            >
              <option value="where">{text.whom.where}</option>
              <option value="none">{text.whomHave}</option>
            </select>
          </label>
          {isSelected && (
            <TextField
              label={text.selection}
              value={typed}
              onValue={setTyped}
              hint={text.selectHint}
            />
          )}
          <p>{isSelected ? text.selectText : text.unselectText}</p>
          {isShown && wanted !== undefined && <Matching where={wanted} />}
          {isShown && <Rehearsed rehearsal={rehearsal} />}
          {request !== undefined && <Command text={svc.selectHosts(seen.nome, request.where)} />}
        </div>
        {[request && error, failed, act.error].map(
          (one, at) => one !== undefined && <Failure key={at} error={one} />,
        )}
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            {acts.cancel}
          </button>
          {isRefused ? (
            <button
              type="button"
              class="button primary"
              onClick={() => void look().then(setConflict)}
            >
              {acts.compare}
            </button>
          ) : (
            <button type="submit" class="button primary" disabled={!isShown || act.isBusy}>
              {act.isBusy ? acts.busy : text.selectButton}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  )
}

const SHOWN_MAX = 8

function Matching({ where }: { readonly where: string }): JSX.Element | null {
  const { cargo: text } = words()
  const { data } = useQuery('listAgents', { where, limit: SHOWN_MAX }).value
  if (data === undefined) return null
  const { agentes, total } = data
  return (
    <div class="recipients" aria-live="polite">
      {total !== null && <b>{text.matching(total)}</b>}
      <ul class="plain">
        {agentes.map(({ id, hostname }) => (
          <li key={id}>{hostname}</li>
        ))}
        {total !== null && total > agentes.length && (
          <li class="faint">{text.andMore(total - agentes.length)}</li>
        )}
      </ul>
    </div>
  )
}
