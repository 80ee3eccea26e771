// Others that have signed the log: they vouch that everybody is shown the same one.

import type { JSX } from 'preact'
import type { AdminReplies } from '../../api/operations.ts'
import type { Shown } from '../../api/query.ts'
import { svc } from '../../commands/svc.ts'
import { hrefOf } from '../../frame/router.ts'
import { Answer, Notice } from '../../parts/answer.tsx'
import { Command } from '../../parts/command.tsx'
import { formatCount, Relative } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'
import { readCosigned } from './read-cosigned.ts'

type Signed = AdminReplies['showCheckpoint']

export function WitnessesCard({ signed }: { readonly signed: Shown<Signed> }): JSX.Element {
  const { hub: text } = words()
  return (
    <section class="card" aria-labelledby="witnesses">
      <header>
        <h2 id="witnesses">{text.witnesses}</h2>
        <span class="grow" />
        <a class="link" href={hrefOf('/audit', { type: 'checkpoint_cosigned' })}>
          {text.inLog}
        </a>
      </header>
      <Answer shown={signed}>{(newest) => <Witnesses newest={newest} />}</Answer>
    </section>
  )
}

function Witnesses({ newest: { cosigned, entries } }: { readonly newest: Signed }): JSX.Element {
  const { hub: text } = words()
  const kept = typeof cosigned === 'string' ? readCosigned(cosigned) : undefined
  if (kept === undefined) {
    return (
      <Notice title={text.noWitness} hint={text.noWitnessHint}>
        <Command text={svc.askWitness(0)} />
        <Command text={svc.addCosigned} />
      </Notice>
    )
  }
  return (
    <>
      <table>
        <thead>
          <tr>
            <th scope="col">{text.witness}</th>
            <th scope="col">{text.signedAt}</th>
          </tr>
        </thead>
        <tbody>
          {kept.witnesses.map(({ name, at }) => (
            <tr key={name}>
              <td class="breaks">{name}</td>
              <td>{at === undefined ? '–' : <Relative at={at} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="body commands">
        <p class="muted">
          {text.cosignedOf(kept.witnesses.length, formatCount(kept.entries))}{' '}
          {entries > kept.entries && text.since(formatCount(entries - kept.entries))}
        </p>
        <p class="muted">{text.hubChecked(kept.witnesses.length)}</p>
        <Command text={svc.askWitness(kept.entries)} />
      </div>
    </>
  )
}
