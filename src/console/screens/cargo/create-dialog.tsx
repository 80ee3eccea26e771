// New cargo. Who gets it is shown before, by a rehearsal of the hub; a secret is not typed into a page that the hub serves.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { svc } from '../../commands/svc.ts'
import { goTo, hrefOf } from '../../frame/router.ts'
import { Rehearsed, useRehearsal } from '../../parts/act-dialog.tsx'
import { Command } from '../../parts/command.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { useAct } from '../../parts/use-act.ts'
import { useSettled } from '../../parts/use-settled.ts'
import { FormFoot } from '../../parts/form-foot.tsx'
import { words } from '../../words/words.ts'
import { PushForm } from './push-form.tsx'
import {
  type Draft,
  findFaultyLine,
  findRecipients,
  readDraft,
  WHOM,
  type Whom,
} from './read-form.ts'

const TYPES = ['csr_cert', 'push', 'selado'] as const
type CargoType = (typeof TYPES)[number]
const SHOWN_MAX = 8

export function CreateDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const { cargo } = words()
  const [type, setType] = useState<CargoType>('csr_cert')
  return (
    <Dialog title={cargo.makeTitle} onClose={onClose}>
      <div class="body form type-choice">
        <label>
          {cargo.type}
          <select
            value={type}
            onChange={({ currentTarget: { value } }) =>
              setType(TYPES.find((one) => one === value) ?? 'csr_cert')
            }
          >
            {TYPES.map((one) => (
              <option key={one} value={one}>
                {cargo.types[one]} ({one})
              </option>
            ))}
          </select>
        </label>
      </div>
      {type === 'csr_cert' && <CertificateForm onClose={onClose} />}
      {type === 'push' && <PushForm onClose={onClose} />}
      {type === 'selado' && <SealedInstead onClose={onClose} />}
    </Dialog>
  )
}

function SealedInstead({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const { cargo, acts } = words()
  return (
    <>
      <div class="body commands">
        <p>{cargo.sealedWhy}</p>
        <Command text={svc.createSealed} />
        <p>{cargo.sealedNext}</p>
        <Command text={svc.resealSecret} />
        <a class="link" href={hrefOf('/cargo/seal')}>
          {cargo.sealHere}
        </a>
      </div>
      <div class="dialog-actions">
        <button type="button" class="button" onClick={onClose}>
          {acts.cancel}
        </button>
      </div>
    </>
  )
}

function CertificateForm({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const { cargo, acts } = words()
  const act = useAct('createCargo')
  const [draft, setDraft] = useState<Draft>({ nome: '', whom: 'agentes', hosts: '', names: '' })
  const request = readDraft(draft)
  const noName = findFaultyLine(draft)
  const settled = useSettled(request)
  const { rehearsal, error } = useRehearsal('createCargo', settled)
  const isShown = rehearsal !== undefined && JSON.stringify(settled) === JSON.stringify(request)
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    // What is not shown yet is not done.
    if (request === undefined || !isShown || act.isBusy) return
    const reply = await act.run(request, { done: acts.done })
    if (reply !== undefined) goTo(hrefOf(`/cargo/${reply.carga_id}`), { isReplacing: true })
  }
  const set = (change: Partial<Draft>): void => setDraft({ ...draft, ...change })
  const hint = { agentes: cargo.hostsHint, roles: cargo.rolesHint, where: cargo.whereHint }
  return (
    <form onSubmit={(event) => void submit(event)}>
      <div class="body form">
        <label>
          {cargo.name}
          <input
            value={draft.nome}
            onInput={({ currentTarget }) => set({ nome: currentTarget.value })}
            autocomplete="off"
            spellcheck={false}
            required
          />
          <span class="hint">{cargo.nameHint}</span>
        </label>
        <label>
          {cargo.who}
          <select
            value={draft.whom}
            onChange={({ currentTarget: { value } }) =>
              set({ whom: WHOM.find((one): one is Whom => one === value) ?? 'agentes' })
            }
          >
            {WHOM.map((one) => (
              <option key={one} value={one}>
                {cargo.whom[one]}
              </option>
            ))}
          </select>
          {draft.whom === 'unassigned' && <span class="hint">{cargo.unassignedHint}</span>}
        </label>
        {draft.whom !== 'unassigned' && (
          <label>
            {hint[draft.whom]}
            <textarea
              rows={draft.whom === 'where' ? 1 : 3}
              value={draft.hosts}
              onInput={({ currentTarget }) => set({ hosts: currentTarget.value })}
              spellcheck={false}
              aria-invalid={noName !== undefined}
            />
            {noName !== undefined && <span class="hint">{acts.noName(noName)}</span>}
          </label>
        )}
        <label>
          {cargo.names}
          <textarea
            rows={2}
            value={draft.names}
            onInput={({ currentTarget }) => set({ names: currentTarget.value })}
            spellcheck={false}
          />
          <span class="hint">{cargo.namesHint}</span>
        </label>
        {isShown && <Recipients rehearsal={rehearsal} />}
        {request !== undefined && <Command text={svc.createCargo(request)} />}
      </div>
      <FormFoot
        errors={[request && error, act.error]}
        label={cargo.makeButton}
        isReady={isShown}
        isBusy={act.isBusy}
        onClose={onClose}
      />
    </form>
  )
}

type Rehearsal = NonNullable<ReturnType<typeof useRehearsal<'createCargo'>>['rehearsal']>

function Recipients({ rehearsal }: { readonly rehearsal: Rehearsal }): JSX.Element {
  const { cargo } = words()
  const { total, hostnames } = findRecipients(rehearsal)
  const shown = hostnames.slice(0, SHOWN_MAX)
  return (
    <>
      <div class="recipients" aria-live="polite">
        <b>{cargo.gets(total)}</b>
        {shown.length > 0 && (
          <ul class="plain">
            {shown.map((hostname) => (
              <li key={hostname}>{hostname}</li>
            ))}
            {total > shown.length && <li class="faint">{cargo.andMore(total - shown.length)}</li>}
          </ul>
        )}
      </div>
      <Rehearsed rehearsal={rehearsal} />
    </>
  )
}
