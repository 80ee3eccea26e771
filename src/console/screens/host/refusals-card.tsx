// What the hub refused to the host last; of this hub alone, since its start.

import type { JSX } from 'preact'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Time } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'
import type { Host } from './explain-host.ts'

export function RefusalsCard({ host }: { readonly host: Host }): JSX.Element | null {
  const { host: text } = words()
  if (host.refusals === null || host.refusals.length === 0) return null
  return (
    <section class="card" aria-labelledby="refusals">
      <header>
        <h2 id="refusals">{text.refusals}</h2>
      </header>
      <ol class="feed">
        {host.refusals.map(
          ({ code, reason, operation, nome, request_id: requestId, at, times }) => (
            <li key={requestId}>
              <Time at={at} withSeconds />
              <div>
                <b>
                  <code>{code}</code>
                </b>{' '}
                {operation} {nome ?? ''} · {text.refusedTimes(times)}
                <p class="muted">{reason}</p>
                <span class="faint">
                  <code>{requestId}</code> <CopyButton text={requestId} />
                </span>
              </div>
            </li>
          ),
        )}
      </ol>
    </section>
  )
}
