// One join rule, and the hosts that joined by it.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { ask } from '../../api/client.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { PAGE_ROWS, usePages } from '../../api/pages.ts'
import { useQuery } from '../../api/query.ts'
import { svc } from '../../commands/svc.ts'
import { hrefOf } from '../../frame/router.ts'
import { Hostname } from '../../parts/hostname.tsx'
import { Screen } from '../../frame/screen.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { Answer } from '../../parts/answer.tsx'
import { IfAllowed } from '../../parts/if-allowed.tsx'
import { ListCard } from '../../parts/list-card.tsx'
import { Relative, Time } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'
import type { ScreenProperties } from '../routes.tsx'
import { RuleState } from './join-rules-card.tsx'

type Rule = AdminReplies['showJoinRule']
type Joined = AdminReplies['listJoinedHosts']['hosts'][number]

export function JoinRuleScreen({ id = '' }: ScreenProperties): JSX.Element {
  const { enrolment: text } = words()
  const shown = useQuery('showJoinRule', { join_rule: id })
  const name = shown.value.data?.name ?? id
  const hosts = usePages(`listJoinedHosts ${id}`, async (after) => {
    const page = { limit: PAGE_ROWS, ...(after !== undefined && { after }) }
    const { hosts: rows, next } = await ask('listJoinedHosts', { join_rule: id, ...page })
    return { rows, next }
  })
  return (
    <Screen title={name} above={[text.title, hrefOf('/enrolment')]} commands={[svc.showRule(name)]}>
      <Answer shown={shown.value}>{(rule) => <RuleCard rule={rule} />}</Answer>
      <ListCard
        title={text.joinedHosts}
        wire="agente"
        pages={hosts}
        empty={text.noJoined}
        hrefOf={({ agente_id: agent, hostname }) =>
          hrefOf(`/hosts/${encodeURIComponent(agent ?? hostname)}`)
        }
        columns={[
          {
            name: 'hostname',
            label: text.hostname,
            share: 46,
            cell: ({ hostname }: Joined) => <Hostname name={hostname} />,
          },
          {
            name: 'joined',
            label: text.joinedAt,
            share: 27,
            cell: ({ joined_at: at }) => <Relative at={at} />,
          },
          {
            name: 'contact',
            label: text.lastContact,
            share: 27,
            cell: ({ last_contact_at: at, revoked_at: revokedAt }) =>
              revokedAt !== null ? text.revoked : at === null ? '–' : <Relative at={at} />,
          },
        ]}
      />
    </Screen>
  )
}

function RuleCard({ rule }: { readonly rule: Rule }): JSX.Element {
  const { enrolment: text } = words()
  const [isEnding, setEnding] = useState(false)
  const facts: readonly (readonly [string, JSX.Element | string])[] = [
    [text.method, rule.method],
    [text.pattern, rule.pattern],
    [text.role, rule.role],
    [text.labels, rule.labels.join(', ') || '–'],
    [text.joined, text.of(rule.hosts, rule.hosts_max)],
    [text.ends, <Time key="ends" at={rule.ended_at ?? rule.expires_at} />],
    ...(rule.jwt === null
      ? []
      : ([
          [text.issuer, rule.jwt.issuer],
          [text.audience, rule.jwt.audience],
          [
            text.claims,
            rule.jwt.claims.map(({ claim, values }) => `${claim}=${values.join('|')}`).join(', '),
          ],
        ] as const)),
  ]
  return (
    <section class="card" aria-labelledby="rule">
      <header>
        <h2 id="rule">{rule.name}</h2>
        <RuleState state={rule.state} />
        <span class="grow" />
        {rule.ended_at === null && (
          <IfAllowed name="endJoinRule">
            <button type="button" class="button small danger" onClick={() => setEnding(true)}>
              {text.end}
            </button>
          </IfAllowed>
        )}
      </header>
      <dl class="facts">
        {facts.map(([label, value]) => (
          <FactRow key={label} label={label} value={value} />
        ))}
      </dl>
      {isEnding && (
        <ActDialog
          title={text.endTitle(rule.name)}
          name="endJoinRule"
          request={{ join_rule: rule.id }}
          label={text.end}
          isDangerous
          onClose={() => setEnding(false)}
        >
          <p>{text.endText}</p>
        </ActDialog>
      )}
    </section>
  )
}

function FactRow({
  label,
  value,
}: {
  readonly label: string
  readonly value: JSX.Element | string
}): JSX.Element {
  return (
    <>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </>
  )
}
