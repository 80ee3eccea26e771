// The form. The secret is in its own fields alone: in no state of the page, no address and no store of the browser.

import { useRef, useState } from 'preact/hooks'
import type { JSX } from 'preact'
import type { AdminReplies } from '../../api/operations.ts'
import { useUnsent } from '../../frame/unsent.ts'
import { useForget } from '../../parts/use-forget.ts'
import { words } from '../../words/words.ts'
import { findSealFault, readVouched, type SealFault, splitNames } from './decide-seal.ts'
import { readFields, Whom } from './seal-fields.tsx'
import { SealConflict } from './seal-conflict.tsx'
import { SealDone } from './seal-done.tsx'
import { SealTrouble } from './seal-trouble.tsx'
import { type Sealer, SEALER_OF_SVC } from './sealer.ts'
import { sealerOfPage } from './sealer-of-page.ts'
import { StrangersCard } from './strangers-card.tsx'
import { type SealStep, useSealing } from './use-sealing.ts'

export interface SealFormProperties {
  /** What gets its next version; undefined for something new. */
  readonly cargo: AdminReplies['showCargo'] | undefined
  readonly servedBy: 'svc' | 'hub'
}

export function SealForm({ cargo, servedBy }: SealFormProperties): JSX.Element {
  const { seal } = words()
  const form = useRef<HTMLFormElement>(null)
  const sealing = useSealing()
  const { state } = sealing
  // As it was when the form was opened, or as this person made it since: what others make is a conflict.
  const [seen, setSeen] = useState(cargo)
  const [isTouched, setTouched] = useState(false)
  useUnsent(isTouched)
  const [fault, setFault] = useState<SealFault | undefined>(undefined)
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({})
  const strangers = state.step === 'strangers' ? state.judged.strangers : []
  const shown = strangers.map(({ fingerprint }) => fingerprint)
  const vouched = readVouched(shown, typed)
  useForget(() => {
    const fields = form.current?.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(
      'textarea, input[type=file]',
    )
    for (const field of fields ?? []) field.value = ''
    setTyped({})
    sealing.reset()
  })
  const isOpen = ['form', 'strangers', 'done'].includes(state.step)

  const send = (next: typeof seen): void => {
    if (form.current === null || vouched === undefined) return
    const { nome, agents, role, where, secret, file, pinFile } = readFields(form.current)
    const hasText = secret.value !== ''
    const found = findSealFault(
      { nome, agents, role, where, hasText, hasFile: file !== undefined },
      next !== undefined,
    )
    setFault(found)
    if (found !== undefined) return
    const sealer: Sealer = servedBy === 'svc' ? SEALER_OF_SVC : sealerOfPage(pinFile)
    const encoded = file === undefined ? new TextEncoder().encode(secret.value) : undefined
    void sealing.run({
      sealer,
      next,
      nome: nome.trim(),
      whom: readWhom(next === undefined ? { agents, role, where } : NOBODY),
      vouched,
      bytes: encoded?.length ?? file?.size ?? 0,
      read: async () =>
        encoded ?? new Uint8Array((await file?.arrayBuffer()) ?? new ArrayBuffer(0)),
      onDelivered: (versao) => {
        form.current?.reset()
        encoded?.fill(0)
        setTyped({})
        setTouched(false)
        if (next !== undefined) setSeen({ ...next, versao })
      },
    })
  }
  return (
    <form
      ref={form}
      class="sections"
      onSubmit={(event) => {
        event.preventDefault()
        if (isOpen) send(seen)
      }}
      onInput={() => {
        setTouched(true)
        setFault(undefined)
      }}
      autocomplete="off"
    >
      {state.step === 'done' && <SealDone {...state} />}
      <section class="card">
        <div class="body form">
          {seen === undefined ? <Whom /> : <p>{seal.next(seen.nome, seen.versao + 1)}</p>}
          <label>
            {seal.secret}
            <span class="hint">{seal.secretHint}</span>
            <textarea name="secret" rows={4} autocomplete="off" spellcheck={false} />
          </label>
          <label>
            {seal.file}
            <input name="file" type="file" />
          </label>
          {servedBy === 'hub' && (
            <label>
              {seal.pins}
              <span class="hint">{seal.pinsHint}</span>
              <input name="pins" type="file" accept=".json,application/json" />
            </label>
          )}
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
      <SealTrouble state={state} onBack={sealing.reset} />
      {state.step === 'changed' && seen !== undefined && (
        <SealConflict
          seen={seen}
          onOverwrite={(present) => {
            setSeen(present)
            send(present)
          }}
          onClose={sealing.reset}
        />
      )}
      {state.step !== 'unanswered' && (
        <div>
          <button
            type="submit"
            class="button primary"
            disabled={!isOpen || (strangers.length > 0 && vouched === undefined)}
          >
            {describeStep(state)}
          </button>
        </div>
      )}
    </form>
  )
}

const NOBODY = { agents: '', role: '', where: '' }

function readWhom({ agents, role, where }: typeof NOBODY): {
  readonly agentes: readonly string[]
  readonly roles: readonly string[]
  readonly where?: string
} {
  return {
    agentes: splitNames(agents),
    roles: role.trim() === '' ? [] : [role.trim()],
    ...(where.trim() !== '' && { where: where.trim() }),
  }
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
