// The join rules: patterns of hosts that enrol without a token of their own.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { ask } from '../../api/client.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { PAGE_ROWS, usePages } from '../../api/pages.ts'
import { svc } from '../../commands/svc.ts'
import { hrefOf } from '../../frame/router.ts'
import { Command } from '../../parts/command.tsx'
import { Icon } from '../../parts/icon.tsx'
import { IfAllowed } from '../../parts/if-allowed.tsx'
import { ListCard } from '../../parts/list-card.tsx'
import { Pill } from '../../parts/pill.tsx'
import { ShownOnce } from '../../parts/shown-once.tsx'
import { Relative } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'
import { CreateJoinRuleDialog } from './create-join-rule-dialog.tsx'

type Rule = AdminReplies['listJoinRules']['join_rules'][number]

export function JoinRulesCard(): JSX.Element {
  const { enrolment: text } = words()
  const [isCreating, setCreating] = useState(false)
  const [created, setCreated] = useState<AdminReplies['createJoinRule'] | undefined>(undefined)
  const pages = usePages('listJoinRules', async (after) => {
    const request = { limit: PAGE_ROWS, ...(after !== undefined && { after }) }
    const { join_rules: rules, next } = await ask('listJoinRules', request)
    return { rows: rules, next }
  })
  return (
    <>
      <ListCard
        title={text.rules}
        pages={pages}
        empty={text.noRules}
        emptyCommand={svc.createRule}
        hrefOf={({ id }) => hrefOf(`/enrolment/rules/${encodeURIComponent(id)}`)}
        columns={[
          { name: 'name', label: text.name, share: 24, cell: ({ name }: Rule) => <b>{name}</b> },
          {
            name: 'state',
            label: text.state,
            share: 18,
            cell: ({ state }) => <RuleState state={state} />,
          },
          {
            name: 'method',
            label: text.method,
            share: 10,
            isWideOnly: true,
            cell: ({ method }) => <code>{method}</code>,
          },
          {
            name: 'pattern',
            label: text.pattern,
            share: 22,
            isWideOnly: true,
            cell: ({ pattern }) => <code>{pattern}</code>,
          },
          {
            name: 'hosts',
            label: text.joined,
            share: 12,
            cell: ({ hosts, hosts_max: most }) => text.of(hosts, most),
          },
          {
            name: 'ends',
            label: text.ends,
            share: 14,
            isWideOnly: true,
            cell: ({ ended_at: endedAt, expires_at: end }) => <Relative at={endedAt ?? end} />,
          },
        ]}
        acts={
          <IfAllowed name="createJoinRule">
            <button type="button" class="button small" onClick={() => setCreating(true)}>
              <Icon name="plus" small />
              {text.newRule}
            </button>
          </IfAllowed>
        }
      />
      {isCreating && (
        <CreateJoinRuleDialog
          onCreated={(rule) => {
            setCreated(rule)
            pages.reload()
          }}
          onClose={() => setCreating(false)}
        />
      )}
      {created !== undefined && (
        <ShownOnce
          title={text.ruleMade(created.name)}
          secret={created.token}
          onClose={() => setCreated(undefined)}
        >
          {created.note !== undefined && <p class="muted">{created.note}</p>}
          <p class="faint">{text.onEachHost}</p>
          <Command text={created.agent_command} />
        </ShownOnce>
      )}
    </>
  )
}

export function RuleState({ state }: { readonly state: Rule['state'] }): JSX.Element {
  const text = words().enrolment.ruleStates[state]
  return state === 'open' ? (
    <Pill tone="ok" icon="check" text={text} />
  ) : (
    <Pill
      tone={state === 'full' ? 'due' : 'off'}
      icon={state === 'full' ? 'info' : 'x'}
      text={text}
    />
  )
}
