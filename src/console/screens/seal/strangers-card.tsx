// Recipients that want this person's word: what the hub says, and what the host prints, typed beside it.

import type { JSX } from 'preact'
import type { Judgement } from './sealer.ts'
import { words } from '../../words/words.ts'

export function StrangersCard({
  strangers,
  typed,
  onType,
}: {
  readonly strangers: Judgement['strangers']
  readonly typed: Readonly<Record<string, string>>
  readonly onType: (fingerprint: string, text: string) => void
}): JSX.Element {
  const { seal } = words()
  return (
    <section class="card" aria-labelledby="strangers">
      <header>
        <h2 id="strangers">{seal.strangers}</h2>
      </header>
      <div class="body form">
        <p>{seal.strangersHint}</p>
        {strangers.map(({ hostname, fingerprint, earlier }) => {
          const text = typed[fingerprint] ?? ''
          const isWrong = text.trim() !== '' && text.trim() !== fingerprint
          return (
            <label key={`${hostname ?? ''} ${fingerprint}`}>
              {seal.typed(hostname ?? seal.escrow)}
              <span class="hint">
                <code>{fingerprint}</code>
                {' · '}
                {earlier === null ? seal.newHere : seal.was(earlier)}
              </span>
              <input
                class="fingerprint"
                value={text}
                onInput={({ currentTarget }) => onType(fingerprint, currentTarget.value)}
                autocomplete="off"
                spellcheck={false}
                aria-invalid={isWrong ? true : undefined}
              />
              {isWrong && (
                <span class="c-bad" role="alert">
                  {seal.differs}
                </span>
              )}
            </label>
          )
        })}
      </div>
    </section>
  )
}
