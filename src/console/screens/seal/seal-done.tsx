// What was delivered, and who can open it.

import { useEffect, useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { hrefOf } from '../../frame/router.ts'
import { words } from '../../words/words.ts'
import type { SealStep } from './use-sealing.ts'

const SHOWN_MAX = 40

export function SealDone({
  cargoId,
  judged,
  isKept,
  pins,
}: Extract<SealStep, { readonly step: 'done' }>): JSX.Element {
  const { seal, frame } = words()
  const { agentes, left_out: leftOut } = judged
  return (
    <section class="card" role="status">
      <header>
        <h2>
          <a class="link" href={hrefOf(`/cargo/${cargoId}`)}>
            {seal.done(cargoId)}
          </a>
        </h2>
      </header>
      <div class="body form">
        <p>{seal.doneHint}</p>
        {!isKept && <p class="c-bad">{seal.notKept}</p>}
        {pins !== undefined && <SavePins text={pins} />}
        {leftOut.length > 0 && <p>{seal.leftOut(leftOut.slice(0, SHOWN_MAX).join(', '))}</p>}
        <table>
          <caption>{seal.sealedFor}</caption>
          <thead>
            <tr>
              <th scope="col">{seal.host}</th>
              <th scope="col">{seal.fingerprint}</th>
            </tr>
          </thead>
          <tbody>
            {agentes.slice(0, SHOWN_MAX).map(({ id, hostname, fingerprint }) => (
              <tr key={id}>
                <td>{hostname}</td>
                <td>
                  <code class="fingerprint">{fingerprint}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {agentes.length > SHOWN_MAX && (
          <p class="muted">{frame.rows(String(SHOWN_MAX), String(agentes.length))}</p>
        )}
      </div>
    </section>
  )
}

/** The browser writes it where its person says; this page keeps nothing. */
function SavePins({ text }: { readonly text: string }): JSX.Element {
  const { seal } = words()
  const [url, setUrl] = useState('')
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [text])
  return (
    <div>
      <p>{seal.savePinsHint}</p>
      <a class="button" href={url} download="recipients.json">
        {seal.savePins}
      </a>
    </div>
  )
}
