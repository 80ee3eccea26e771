// The next version of a carga: its names, at once or in waves. When somebody else made one meanwhile, nothing is overwritten unseen.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { HubError } from '../../api/hub-error.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { goTo, hrefOf } from '../../frame/router.ts'
import { useUnsent } from '../../frame/unsent.ts'
import { Rehearsed, useRehearsal } from '../../parts/act-dialog.tsx'
import { Failure } from '../../parts/answer.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { mergeField } from '../../parts/merge-field.ts'
import { useAct } from '../../parts/use-act.ts'
import { useSettled } from '../../parts/use-settled.ts'
import { words } from '../../words/words.ts'
import { CargoConflictDialog } from './cargo-conflict.tsx'
import { type CargoConflict, readConflict } from './read-conflict.ts'
import { readNames, readWaves, WAVES_DRAFT, type WavesDraft } from './read-form.ts'
import { WavePlan } from './wave-plan.tsx'
import { WavesFields } from './waves-fields.tsx'

type Cargo = AdminReplies['showCargo']

export function UpdateDialog({
  cargo: first,
  onClose,
}: {
  readonly cargo: Cargo
  readonly onClose: () => void
}): JSX.Element {
  const { cargo: text, acts } = words()
  // As it was when the form was opened: what comes meanwhile is a conflict, and changes no form.
  const [seen, setSeen] = useState(first)
  const [typed, setTyped] = useState(listNames(first))
  const [waves, setWaves] = useState<WavesDraft | undefined>(undefined)
  const [conflict, setConflict] = useState<CargoConflict | undefined>(undefined)
  const update = useAct('updateCargo')
  const start = useAct('startRollout')
  const sans = readNames(typed)
  useUnsent(sans.join('\n') !== listNames(seen))
  const rules = waves && readWaves(waves)
  const wanted = useSettled({ carga: seen.id, ...(isCertificate(seen) && { sans }), rules })
  const { rules: settledRules, ...plain } = wanted
  const atOnce = useRehearsal('updateCargo', waves === undefined ? plain : undefined)
  const inWaves = useRehearsal(
    'startRollout',
    waves === undefined || settledRules === undefined ? undefined : { ...plain, ...settledRules },
  )
  const { rehearsal, error } = waves === undefined ? atOnce : inWaves
  const isBusy = update.isBusy || start.isBusy
  const failed = update.error ?? start.error

  const send = async (versao: number, names: readonly string[] = sans): Promise<void> => {
    const request = { carga: seen.id, ...(isCertificate(seen) && { sans: [...names] }) }
    if (waves === undefined) {
      const reply = await update.run(request, { ifMatch: `"${versao}"`, done: acts.done })
      if (reply !== undefined) onClose()
    } else if (rules !== undefined) {
      const reply = await start.run({ ...request, ...rules, versao }, { done: acts.done })
      if (reply !== undefined) goTo(hrefOf(`/rollouts/${reply.id}`))
    }
  }
  const isConflict = failed instanceof HubError && failed.status === 412
  const look = async (): Promise<void> => setConflict(await readConflict(seen.id))
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    if (!isBusy) await send(seen.versao)
  }
  if (conflict !== undefined) {
    const { present } = conflict
    const { merged, isClash } = mergeField(listNames(seen), listNames(present), sans.join('\n'))
    const again = (): void => {
      setConflict(undefined)
      update.clear()
      start.clear()
      setSeen(present)
    }
    return (
      <CargoConflictDialog
        seen={seen}
        conflict={conflict}
        isNext
        field={{
          label: text.names,
          read: describeNames,
          wanted: describeNames({ sans: readNames(merged) }),
          isClash,
        }}
        onOverwrite={() => {
          again()
          setTyped(merged)
          void send(present.versao, readNames(merged))
        }}
        onTake={() => {
          again()
          setTyped(listNames(present))
        }}
        onClose={() => setConflict(undefined)}
      />
    )
  }
  return (
    <Dialog title={text.updateTitle(seen.nome)} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <div class="body form">
          <p>{text.updateText}</p>
          {isCertificate(seen) && (
            <label>
              {text.names}
              <textarea
                rows={4}
                value={typed}
                onInput={({ currentTarget }) => setTyped(currentTarget.value)}
                spellcheck={false}
              />
              <span class="hint">{text.namesHint}</span>
            </label>
          )}
          <label class="check">
            <input
              type="checkbox"
              checked={waves !== undefined}
              onChange={({ currentTarget }) =>
                setWaves(currentTarget.checked ? WAVES_DRAFT : undefined)
              }
            />
            {text.inWaves}
          </label>
          {waves !== undefined && <WavesFields draft={waves} onChange={setWaves} />}
          {rehearsal !== undefined && waves !== undefined && <WavePlan rehearsal={rehearsal} />}
          {rehearsal !== undefined && <Rehearsed rehearsal={rehearsal} />}
        </div>
        {error !== undefined && <Failure error={error} />}
        {failed !== undefined && <Failure error={failed} />}
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            {acts.cancel}
          </button>
          {isConflict ? (
            <button type="button" class="button primary" onClick={() => void look()}>
              {acts.compare}
            </button>
          ) : (
            <button
              type="submit"
              class="button primary"
              disabled={isBusy || error !== undefined || (waves !== undefined && !rules)}
            >
              {isBusy ? acts.busy : waves === undefined ? text.updateButton : text.startButton}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  )
}

type Named = Pick<Cargo, 'sans'>

function listNames({ sans }: Named): string {
  return sans.join('\n')
}

function describeNames({ sans }: Named): string {
  return sans.join(', ')
}

function isCertificate({ tipo }: Cargo): boolean {
  return tipo === 'csr_cert'
}
