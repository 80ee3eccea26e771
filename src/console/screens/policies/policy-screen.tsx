// One politica: what holds, what somebody wants, and what that would mean for hosts and cargas.

import type { JSX } from 'preact'
import { type AdminRequest, roleNeeded } from '../../api/operations.ts'
import { useQuery } from '../../api/query.ts'
import { svc } from '../../commands/svc.ts'
import { hrefOf } from '../../frame/router.ts'
import { Screen } from '../../frame/screen.tsx'
import { Failure } from '../../parts/answer.tsx'
import { formatCount } from '../../parts/time.tsx'
import { isAtLeast } from '../../api/session.ts'
import { words } from '../../words/words.ts'
import type { ScreenProperties } from '../routes.tsx'
import { fieldsOf, formOf, type Politica, type Target } from './describe-policy.ts'
import { FieldValue } from './field-value.tsx'
import { PolicyEditor } from './policy-editor.tsx'
import { PolicyHistory } from './policy-history.tsx'
import { usePolitica } from './use-politica.ts'

export function RolePolicyScreen({ role = '' }: ScreenProperties): JSX.Element {
  return <PolicyScreen target={{ kind: 'role', role }} />
}

export function SelectorPolicyScreen({ nome = '' }: ScreenProperties): JSX.Element {
  return <PolicyScreen target={{ kind: 'where', nome }} />
}

function PolicyScreen({ target }: { readonly target: Target }): JSX.Element {
  const { policies: text } = words()
  const { seen, error, reload } = usePolitica(target)
  const name = target.kind === 'role' ? target.role : target.nome
  return (
    <Screen
      title={name === '*' ? text.everyOther : name}
      wire="politica"
      above={[text.title, hrefOf('/policies')]}
      commands={svc.aboutPolicy(target)}
    >
      {error !== undefined && (
        <Failure error={error} asksAgain={seen === undefined ? 'empty' : 'shown'} />
      )}
      {seen !== undefined && (
        <>
          <Holds target={target} politica={seen.politica} isThere={seen.etag !== undefined} />
          {isAtLeast(roleNeeded('setPolicy')) ? (
            <PolicyEditor target={target} seen={seen} reload={reload} />
          ) : (
            seen.etag !== undefined && <Facts target={target} politica={seen.politica} />
          )}
          <PolicyHistory target={target} />
        </>
      )}
    </Screen>
  )
}

/** For whom it holds, which the list of hosts counts by an index; of revoked hosts it has no meaning. docs/protocol.md POL-28. */
function Holds({
  target,
  politica: { where },
  isThere,
}: {
  readonly target: Target
  readonly politica: Politica
  readonly isThere: boolean
}): JSX.Element {
  const { policies: text } = words()
  const filter = filterOf(target, where)
  const listed = useTotal(filter)
  const revoked = useTotal(filter && { ...filter, estado: 'revoked' })
  return (
    <p class="muted">
      {isThere ? text.holds[target.kind] : text.notThere[target.kind]}{' '}
      {filter !== undefined && listed !== undefined && revoked !== undefined && (
        <a class="link" href={hrefOf('/hosts', filter)}>
          {text.hosts(formatCount(listed - revoked))}
        </a>
      )}
    </p>
  )
}

function useTotal(filter: AdminRequest<'listAgents'> | undefined): number | undefined {
  const hosts = useQuery('listAgents', filter && { ...filter, limit: 1 })
  return hosts.value.data?.total ?? undefined
}

function filterOf(
  target: Target,
  where: string,
): { readonly role: string } | { readonly where: string } | undefined {
  if (target.kind === 'where') return where === '' ? undefined : { where }
  return target.role === '*' ? undefined : { role: target.role }
}

/** For who may not change it. */
function Facts({
  target,
  politica,
}: {
  readonly target: Target
  readonly politica: Politica
}): JSX.Element {
  const { policies: text } = words()
  const form = formOf(politica)
  return (
    <section class="card" aria-labelledby="facts">
      <header>
        <h2 id="facts">{text.settings}</h2>
      </header>
      <dl class="facts">
        {fieldsOf(target).map((field) => (
          <FieldFact key={field} label={text.fields[field]}>
            <FieldValue field={field} value={form[field]} />
          </FieldFact>
        ))}
      </dl>
    </section>
  )
}

function FieldFact({
  label,
  children,
}: {
  readonly label: string
  readonly children: JSX.Element
}): JSX.Element {
  return (
    <>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </>
  )
}
