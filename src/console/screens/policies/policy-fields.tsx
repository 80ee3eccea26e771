// The fields of a politica, each with what leaving it empty means.

import type { JSX } from 'preact'
import { words } from '../../words/words.ts'
import type { PolicyField, PolicyForm, Target } from './describe-policy.ts'

export function PolicyFields({
  target,
  form,
  faults,
  change,
}: {
  readonly target: Target
  readonly form: PolicyForm
  readonly faults: readonly PolicyField[]
  readonly change: (change: Partial<PolicyForm>) => void
}): JSX.Element {
  const { policies: text, acts } = words()
  const line = (field: PolicyField, fault: string): JSX.Element => (
    <label>
      {text.fields[field]}
      <input
        name={field}
        value={form[field]}
        maxLength={4096}
        autocomplete="off"
        spellcheck={false}
        aria-invalid={faults.includes(field)}
        onInput={({ currentTarget }) => change({ [field]: currentTarget.value })}
      />
      <span class="hint">{faults.includes(field) ? fault : text.hints[field]}</span>
    </label>
  )
  const lines = (field: 'sans_permitidos' | 'cargas_automaticas'): JSX.Element => (
    <label>
      {text.fields[field]}
      <textarea
        name={field}
        rows={3}
        value={form[field]}
        spellcheck={false}
        onInput={({ currentTarget }) => change({ [field]: currentTarget.value })}
      />
      <span class="hint">{text.hints[field]}</span>
    </label>
  )
  const choices = target.kind === 'role' ? (['no', 'yes'] as const) : (['unsaid', 'no'] as const)
  return (
    <>
      {line(target.kind === 'role' ? 'nome' : 'where', text.needed)}
      {line('cert_ttl', acts.noDuration)}
      {line('token_ttl_max', acts.noDuration)}
      {lines('sans_permitidos')}
      {lines('cargas_automaticas')}
      <label>
        {text.fields.reenroll}
        <select
          name="reenroll"
          value={form.reenroll}
          onChange={({ currentTarget: { value } }) =>
            change({ reenroll: value as PolicyForm['reenroll'] })
          }
        >
          {[...new Set([...choices, form.reenroll])].map((one) => (
            <option key={one} value={one}>
              {text.reenroll[one]}
            </option>
          ))}
        </select>
        <span class="hint">{text.hints.reenroll}</span>
      </label>
    </>
  )
}
