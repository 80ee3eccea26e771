// How a version goes out in waves. docs/protocol.md RLO-2.

import type { JSX } from 'preact'
import { words } from '../../words/words.ts'
import type { WavesDraft } from './read-form.ts'

export function WavesFields({
  draft,
  onChange,
}: {
  readonly draft: WavesDraft
  readonly onChange: (draft: WavesDraft) => void
}): JSX.Element {
  const { cargo } = words()
  const fields = [
    { name: 'waves', label: cargo.waves, hint: cargo.wavesHint },
    { name: 'soakMinutes', label: cargo.soak, hint: '' },
    { name: 'maxFailed', label: cargo.maxFailed, hint: cargo.maxFailedHint },
    { name: 'lateMinutes', label: cargo.late, hint: '' },
  ] as const
  return (
    <div class="form waves-form">
      {fields.map(({ name, label, hint }) => (
        <label key={name}>
          {label}
          <input
            value={draft[name]}
            onInput={({ currentTarget }) => onChange({ ...draft, [name]: currentTarget.value })}
            autocomplete="off"
            spellcheck={false}
          />
          {hint !== '' && <span class="hint">{hint}</span>}
        </label>
      ))}
    </div>
  )
}
