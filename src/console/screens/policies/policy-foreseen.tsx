// What a politica would mean for hosts and cargas, by the hub itself: beside the form as somebody types, and before it is set.

import type { JSX } from 'preact'
import type { AdminRehearsal } from '../../api/operations.ts'
import { hrefOf } from '../../frame/router.ts'
import { useRehearsal } from '../../parts/act-dialog.tsx'
import { formatCount } from '../../parts/time.tsx'
import { useSettled } from '../../parts/use-settled.ts'
import { words } from '../../words/words.ts'
import type { PolicyBounds, Target } from './describe-policy.ts'

/** Of what is typed, once somebody pauses. What the hub refuses is said where it is set. */
export function ForeseenAsTyped({
  target,
  bounds,
}: {
  readonly target: Target
  readonly bounds: PolicyBounds
}): JSX.Element | null {
  const name = target.kind === 'role' ? 'setPolicy' : 'setSelectorPolicy'
  const { rehearsal } = useRehearsal(name, requestOf(target, useSettled(bounds)))
  return rehearsal?.politica === undefined ? null : <Foreseen foreseen={rehearsal.politica} />
}

export function Foreseen({
  foreseen: { agentes, cargas, cargas_afetadas: affected },
}: {
  readonly foreseen: NonNullable<AdminRehearsal['politica']>
}): JSX.Element {
  const { policies: text } = words()
  return (
    <div aria-live="polite">
      <p>
        <b>{text.wouldHold(formatCount(agentes))}</b>
      </p>
      {cargas === 0 ? (
        <p class="muted">{text.noneAffected}</p>
      ) : (
        <>
          <p class="c-late">{text.affected(formatCount(cargas))}</p>
          <ul class="plain-list">
            {affected.map(({ carga_id: id, nome, sans, agentes: hosts }) => (
              <li key={id}>
                <a class="link" href={hrefOf(`/cargo/${id}`)}>
                  {nome}
                </a>{' '}
                <code>{sans.join(', ')}</code>{' '}
                <span class="muted">{text.hosts(formatCount(hosts))}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}

export function requestOf(
  target: Target,
  bounds: PolicyBounds,
): { readonly role: string } & { readonly nome: string } {
  const own = target.kind === 'role' ? { role: target.role } : { nome: target.nome }
  // Each kind takes its own fields, of which the form of the other one has none.
  return { ...bounds, ...own } as { readonly role: string } & { readonly nome: string }
}
