// The form. The secret is in its own fields alone: in no state of the page, no address and no store of the browser.

import { useRef, useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { Failure } from '../../parts/answer.tsx'
import { formatCount } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'
import { findSealFault, readVouched, type SealFault, splitNames } from './decide-seal.ts'
import { SealDone } from './seal-done.tsx'
import { StrangersCard } from './strangers-card.tsx'
import { type SealStep, useSealing } from './use-sealing.ts'

export function SealForm({ carga }: { readonly carga: string | undefined }): JSX.Element {
  const { seal } = words()
  const form = useRef<HTMLFormElement>(null)
  const sealing = useSealing()
  const { state } = sealing
  const [fault, setFault] = useState<SealFault | undefined>(undefined)
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({})
  const strangers = state.step === 'strangers' ? state.judged.strangers : []
  const shown = strangers.map(({ fingerprint }) => fingerprint)
  const vouched = readVouched(shown, typed)
  const isBusy = state.step !== 'form' && state.step !== 'strangers' && state.step !== 'done'

  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    if (form.current === null || isBusy || vouched === undefined) return
    const fields = readFields(form.current)
    const { nome, agents, role, where, secret, file } = fields
    const hasText = secret.value !== ''
    const found = findSealFault(
      { nome, agents, role, where, hasText, hasFile: file !== undefined },
      carga !== undefined,
    )
    setFault(found)
    if (found !== undefined) return
    const encoded = file === undefined ? new TextEncoder().encode(secret.value) : undefined
    void sealing.run({
      carga,
      nome: nome.trim(),
      whom:
        carga === undefined
          ? {
              agentes: [...splitNames(agents)],
              roles: role.trim() === '' ? [] : [role.trim()],
              ...(where.trim() !== '' && { where: where.trim() }),
            }
          : { agentes: [], roles: [] },
      vouched,
      bytes: encoded?.length ?? file?.size ?? 0,
      read: async () =>
        encoded ?? new Uint8Array((await file?.arrayBuffer()) ?? new ArrayBuffer(0)),
      clear: () => {
        form.current?.reset()
        encoded?.fill(0)
        setTyped({})
      },
    })
  }
  return (
    <form ref={form} class="sections" onSubmit={submit} autocomplete="off">
      {state.step === 'done' && <SealDone {...state} />}
      <section class="card">
        <div class="body form">
          {carga === undefined ? <Whom /> : <p>{seal.next(carga)}</p>}
          <label>
            {seal.secret}
            <span class="hint">{seal.secretHint}</span>
            <textarea name="secret" rows={4} autocomplete="off" spellcheck={false} />
          </label>
          <label>
            {seal.file}
            <input name="file" type="file" />
          </label>
        </div>
      </section>
      {strangers.length > 0 && (
        <StrangersCard
          strangers={strangers}
          typed={typed}
          onType={(fingerprint, text) => setTyped({ ...typed, [fingerprint]: text })}
        />
      )}
      {fault !== undefined && (
        <p class="c-bad" role="alert">
          {seal[fault]}
        </p>
      )}
      <Trouble state={state} />
      <div>
        <button
          type="submit"
          class="button primary"
          disabled={isBusy || (strangers.length > 0 && vouched === undefined)}
        >
          {describeStep(state)}
        </button>
      </div>
    </form>
  )
}

function Whom(): JSX.Element {
  const { seal } = words()
  const fields = [
    ['nome', seal.name, seal.nameHint],
    ['agents', seal.agents, seal.agentsHint],
    ['role', seal.role, seal.roleHint],
    ['where', seal.where, seal.whereHint],
  ] as const
  return (
    <>
      {fields.map(([name, label, hint]) => (
        <label key={name}>
          {label}
          <span class="hint">{hint}</span>
          <input name={name} autocomplete="off" spellcheck={false} />
        </label>
      ))}
    </>
  )
}

function Trouble({ state }: { readonly state: SealStep }): JSX.Element | null {
  const { seal } = words()
  if (state.step !== 'form') return null
  if (state.error !== undefined) return <Failure error={state.error} />
  if (state.tooLarge === undefined) return null
  const { bytes, most } = state.tooLarge
  return (
    <p class="c-bad" role="alert">
      {seal.tooLarge(formatCount(bytes), formatCount(most))}
    </p>
  )
}

function describeStep(state: SealStep): string {
  const { seal } = words()
  switch (state.step) {
    case 'judging':
      return seal.judging
    case 'sealing':
      return seal.sealing(state.done, state.total)
    case 'sending':
      return seal.sending
    default:
      return seal.submit
  }
}

interface Fields {
  readonly nome: string
  readonly agents: string
  readonly role: string
  readonly where: string
  readonly secret: HTMLTextAreaElement
  readonly file: File | undefined
}

function readFields(form: HTMLFormElement): Fields {
  const textOf = (name: string): string => {
    const field = form.elements.namedItem(name)
    return field instanceof HTMLInputElement ? field.value : ''
  }
  const chosen = form.elements.namedItem('file')
  return {
    nome: textOf('nome'),
    agents: textOf('agents'),
    role: textOf('role'),
    where: textOf('where'),
    secret: form.elements.namedItem('secret') as HTMLTextAreaElement,
    file: chosen instanceof HTMLInputElement ? chosen.files?.[0] : undefined,
  }
}
