// Tokens that were just made, with their texts: each becomes “enrolled” by itself.

import type { JSX } from 'preact'
import { now } from '../../api/clock.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { useQuery } from '../../api/query.ts'
import { hrefOf } from '../../frame/router.ts'
import { useUnsent } from '../../frame/unsent.ts'
import { Command } from '../../parts/command.tsx'
import { useForget } from '../../parts/use-forget.ts'
import { Pill } from '../../parts/pill.tsx'
import { words } from '../../words/words.ts'
import { stateOfToken } from './describe-enrolment.ts'

type Created = AdminReplies['createToken']
const TIPOS = ['agent_enrolled', 'token_revoked']

export function CreatedTokens({
  created,
  onClose,
}: {
  readonly created: readonly Created[]
  readonly onClose: () => void
}): JSX.Element {
  const { enrolment: text, acts } = words()
  // The newest come first, so those that were just made are among them.
  const newest = useQuery('listTokens', { limit: 200 }, { tipos: TIPOS })
  const tokens = created.map((token) => {
    const present = newest.value.data?.tokens.find(({ id }) => id === token.id) ?? token
    return { ...token, state: stateOfToken(present, now.value) }
  })
  useUnsent(
    tokens.some(({ state }) => state === 'open'),
    'secret',
  )
  useForget(onClose)
  return (
    <section class="card" aria-labelledby="created">
      <header>
        <h2 id="created">{text.created}</h2>
        <span class="grow" />
        <button type="button" class="button small" onClick={onClose}>
          {acts.haveCopied}
        </button>
      </header>
      <p class="body muted">{acts.shownOnce}</p>
      <ul class="body plain-list spaced">
        {tokens.map(({ state, ...token }) => (
          <li key={token.id} class="made">
            <div class="row" aria-live="polite">
              <b>{token.hostname}</b>
              {state === 'used' && <Pill tone="ok" icon="check" text={text.enrolled} />}
              {state === 'open' && <Pill tone="info" icon="alarm" text={text.waits} />}
              {state === 'ended' && <Pill tone="off" icon="x" text={text.states.ended} />}
              {state === 'used' && (
                <a class="link" href={hrefOf(`/hosts/${encodeURIComponent(token.hostname)}`)}>
                  {text.openHost}
                </a>
              )}
            </div>
            {state === 'open' && (
              <>
                {token.note !== undefined && <p class="muted">{token.note}</p>}
                <p class="faint">{text.onTheHost}</p>
                <Command text={token.agent_command} />
                <p class="faint">{text.theToken}</p>
                <Command text={token.token} />
              </>
            )}
            {state === 'used' && (
              <>
                <p class="faint">{text.startAgent}</p>
                <Command text="systemctl enable --now svc-agent" />
              </>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
