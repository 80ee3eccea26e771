// The form of a politica, what differs, and its way into force: what it would mean is shown first, and what somebody else set
// meanwhile is never overwritten unseen. Nothing that is typed is lost.

import { useEffect, useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { onRing } from '../../api/stream.ts'
import { goTo, hrefOf } from '../../frame/router.ts'
import { useUnsent } from '../../frame/unsent.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { words } from '../../words/words.ts'
import { decidePolicy, formOf, type PolicyForm, type Target } from './describe-policy.ts'
import { Differences } from './differences.tsx'
import { PolicyConflict } from './policy-conflict.tsx'
import { PolicyFields } from './policy-fields.tsx'
import { ForeseenAsTyped } from './policy-foreseen.tsx'
import { PolicyReview } from './policy-review.tsx'
import type { SeenPolitica } from './use-politica.ts'

type Step = 'form' | 'review' | 'conflict' | 'remove'

export function PolicyEditor({
  target,
  seen: shown,
  reload,
}: {
  readonly target: Target
  readonly seen: SeenPolitica
  readonly reload: () => void
}): JSX.Element {
  const { policies: text, acts } = words()
  /** What the form began with: it stays while somebody types, whatever the hub has meanwhile. */
  const [seen, setSeen] = useState(shown)
  const [form, setForm] = useState(() => formOf(shown.politica))
  const [isUntested, setUntested] = useState(false)
  const [step, setStep] = useState<Step>('form')
  const decision = decidePolicy(target, seen.politica, form)
  const isTouched = decision.differences.length > 0
  useUnsent(isTouched)
  const begin = (from: SeenPolitica): void => {
    setSeen(from)
    setForm(formOf(from.politica))
    setUntested(false)
    setStep('form')
  }
  useEffect(() => {
    if (shown !== seen && !isTouched) begin(shown)
  }, [shown.etag])
  useEffect(
    () => (isTouched ? undefined : onRing((tipos) => isPolicyRing(tipos) && reload())),
    [isTouched],
  )
  const bounds = { ...decision.bounds, ...(isUntested && { untested: true }) }
  const finish = (): void => {
    setStep('form')
    // What was set is what the form has: untouched as soon as the hub has said it.
    setSeen({ ...seen, politica: { ...seen.politica, ...politicaOf(decision.bounds) } })
    reload()
  }
  return (
    <section class="card" aria-labelledby="settings">
      <header>
        <h2 id="settings">{text.settings}</h2>
        <span class="grow" />
        {seen.etag !== undefined && (
          <button type="button" class="button small danger" onClick={() => setStep('remove')}>
            {text.remove}
          </button>
        )}
      </header>
      <form
        class="body form"
        onSubmit={(event) => {
          event.preventDefault()
          if (decision.faults.length === 0) setStep('review')
        }}
      >
        <PolicyFields
          target={target}
          form={form}
          faults={decision.faults}
          change={(change: Partial<PolicyForm>) => setForm({ ...form, ...change })}
        />
        {bounds.cert_ttl !== undefined && bounds.cert_ttl !== null && (
          <label class="check">
            <input
              type="checkbox"
              checked={isUntested}
              onChange={({ currentTarget }) => setUntested(currentTarget.checked)}
            />
            <span>{text.untested}</span>
          </label>
        )}
        <Differences differences={decision.differences} />
        {step === 'form' && isTouched && decision.faults.length === 0 && (
          <ForeseenAsTyped {...{ target, bounds }} />
        )}
        <div class="row">
          <button
            type="submit"
            class="button primary"
            disabled={decision.faults.length > 0 || (!isTouched && seen.etag !== undefined)}
          >
            {text.review}
          </button>
          {isTouched && (
            <button type="button" class="button quiet" onClick={() => begin(shown)}>
              {text.discard}
            </button>
          )}
        </div>
      </form>
      {step === 'review' && (
        <PolicyReview
          {...{ target, bounds, decision }}
          etag={seen.etag}
          onConflict={() => setStep('conflict')}
          onClose={() => setStep('form')}
          onDone={finish}
        />
      )}
      {step === 'conflict' && (
        <PolicyConflict
          {...{ target, seen: seen.politica, form }}
          onOverwrite={(present, wanted) => {
            setSeen(present)
            setForm(wanted)
            setStep('review')
          }}
          onTake={begin}
          onClose={() => setStep('form')}
        />
      )}
      {step === 'remove' &&
        (target.kind === 'role' ? (
          <ActDialog
            title={text.removeTitle(target.role)}
            name="removePolicy"
            request={{ role: target.role, ...tagOf(seen) }}
            label={text.remove}
            isDangerous
            typed={target.role}
            onClose={() => setStep('form')}
            onDone={() => goTo(hrefOf('/policies'))}
          >
            <p>{text.removeText.role}</p>
          </ActDialog>
        ) : (
          <ActDialog
            title={text.removeTitle(target.nome)}
            name="removeSelectorPolicy"
            request={{ nome: target.nome, ...tagOf(seen) }}
            label={acts.remove}
            isDangerous
            typed={target.nome}
            onClose={() => setStep('form')}
            onDone={() => goTo(hrefOf('/policies'))}
          >
            <p>{text.removeText.where}</p>
          </ActDialog>
        ))}
    </section>
  )
}

function isPolicyRing(tipos: ReadonlySet<string> | undefined): boolean {
  return tipos === undefined || tipos.has('politica_set') || tipos.has('politica_removed')
}

/** In the body a tag has no quotes. */
function tagOf({ etag }: SeenPolitica): { readonly etag?: string } {
  return etag === undefined ? {} : { etag: etag.replaceAll('"', '') }
}

function politicaOf({
  untested: _untested,
  etag: _etag,
  ...bounds
}: ReturnType<typeof decidePolicy>['bounds']): Partial<SeenPolitica['politica']> {
  return bounds
}
