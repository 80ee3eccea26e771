// The messages that the hub gave up.

import type { JSX } from 'preact'
import type { AdminReplies } from '../../api/operations.ts'
import { hrefOf } from '../../frame/router.ts'
import { formatCount, Time } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'

const SHOWN_MAX = 40

export function DeadCard({
  webhook: { dead, dead_messages: messages },
}: {
  readonly webhook: AdminReplies['showWebhook']
}): JSX.Element | null {
  const { webhooks: text, frame } = words()
  if (messages.length === 0) return null
  return (
    <section class="card" aria-labelledby="dead">
      <header>
        <h2 id="dead">{text.deadMessages}</h2>
      </header>
      <table>
        <thead>
          <tr>
            <th scope="col">{text.entry}</th>
            <th scope="col">{text.givenUp}</th>
            <th scope="col">{text.error}</th>
          </tr>
        </thead>
        <tbody>
          {messages.slice(0, SHOWN_MAX).map(({ seq, tipo_evento: tipo, died_at: at, erro }) => (
            <tr key={seq}>
              <td>
                <a class="link" href={hrefOf(`/audit/${seq}`)}>
                  {seq}
                </a>{' '}
                <code>{tipo}</code>
              </td>
              <td>
                <Time at={at} withSeconds />
              </td>
              <td class="breaks">{erro}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {dead > SHOWN_MAX && (
        <div class="foot">{frame.rows(formatCount(SHOWN_MAX), formatCount(dead))}</div>
      )}
    </section>
  )
}
