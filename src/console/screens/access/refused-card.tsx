// Requests that the admin port refused: one entry a minute for each caller, with how often.

import type { JSX } from 'preact'
import { useQuery } from '../../api/query.ts'
import { hrefOf } from '../../frame/router.ts'
import { Answer } from '../../parts/answer.tsx'
import { formatCount, Time } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'

const SHOWN = 20
const TIPOS = ['admin_refused']

export function RefusedCard(): JSX.Element {
  const { access: text } = words()
  const shown = useQuery('listEntries', { tipos: TIPOS, last: SHOWN }, { tipos: TIPOS })
  const field = (payload: Readonly<Record<string, unknown>>, name: string): string => {
    const value = payload[name]
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '–'
  }
  return (
    <section class="card" aria-labelledby="refused">
      <header>
        <h2 id="refused">{text.refused}</h2>
        <span class="wire">admin_refused</span>
        <span class="grow" />
        <a class="link" href={hrefOf('/audit', { type: 'admin_refused' })}>
          {text.inLog}
        </a>
      </header>
      <Answer shown={shown.value}>
        {({ eventos }) =>
          eventos.length === 0 ? (
            <p class="body muted">{text.noneRefused}</p>
          ) : (
            <table>
              <thead>
                <tr>
                  <th scope="col">{text.when}</th>
                  <th scope="col">{text.who}</th>
                  <th scope="col">{text.why}</th>
                  <th scope="col" class="wide">
                    {text.address}
                  </th>
                  <th scope="col">{text.times}</th>
                </tr>
              </thead>
              <tbody>
                {eventos.toReversed().map(({ seq, timestamp, payload }) => (
                  <tr key={seq}>
                    <td>
                      <a class="link" href={hrefOf(`/audit/${seq}`)}>
                        <Time at={timestamp} withSeconds />
                      </a>
                    </td>
                    <td class="breaks">{field(payload, 'actor')}</td>
                    <td class="breaks">
                      <code>{field(payload, 'reason')}</code>{' '}
                      <span class="muted">
                        {payload['operation'] === undefined ? '' : field(payload, 'operation')}
                      </span>
                    </td>
                    <td class="wide">
                      <code>{field(payload, 'address')}</code>
                    </td>
                    <td>{formatCount(Number(payload['count'] ?? 1))}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </Answer>
    </section>
  )
}
