// All hosts: filtered, sorted and paged at the hub.

import type { JSX } from 'preact'
import { ask } from '../../api/client.ts'
import { hubNowMs } from '../../api/clock.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { PAGE_ROWS, usePages } from '../../api/pages.ts'
import { here, hrefOf, setQuery } from '../../frame/router.ts'
import { Screen } from '../../frame/screen.tsx'
import { useRowKeys } from '../../frame/use-row-keys.ts'
import { Failure, Notice } from '../../parts/answer.tsx'
import { Command } from '../../parts/command.tsx'
import { type Column, CountLine, DataTable } from '../../parts/data-table.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Pill } from '../../parts/pill.tsx'
import { Relative } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'

type Host = AdminReplies['listAgents']['agentes'][number]

export function HostsScreen(): JSX.Element {
  const { hosts, frame } = words()
  useRowKeys()
  const { where } = here.value.query
  const filters = { ...(where !== undefined && { where }) }
  const pages = usePages(JSON.stringify(filters), async (after) => {
    const { agentes, next } = await ask('listAgents', {
      ...filters,
      limit: PAGE_ROWS,
      ...(after !== undefined && { after }),
    })
    return { rows: agentes, next }
  })
  const isFiltered = Object.keys(filters).length > 0
  return (
    <Screen
      title={hosts.title}
      wire="agente"
      commands={[`svc agente list${where === undefined ? '' : ` --where '${where}'`}`]}
    >
      <section class="card" aria-label={hosts.title}>
        <div class="filters">
          <label class="field grow">
            <Icon name="search" small />
            <span class="visually-hidden">{hosts.where}</span>
            <input
              type="search"
              placeholder={hosts.where}
              value={where ?? ''}
              onChange={({ currentTarget }) => setQuery({ where: currentTarget.value })}
            />
          </label>
          {pages.arrived > 0 && (
            <button type="button" class="button small" onClick={pages.reload}>
              {frame.arrived(pages.arrived)}
            </button>
          )}
        </div>
        {pages.error !== undefined && <Failure error={pages.error} />}
        {pages.rows.length > 0 && (
          <DataTable
            label={hosts.title}
            columns={columns()}
            rows={pages.rows}
            total={pages.total}
            hrefOf={({ id }) => hrefOf(`/hosts/${id}`)}
            onLook={pages.look}
            onEnd={pages.more}
          />
        )}
        {pages.rows.length === 0 && !pages.isLoading && pages.error === undefined && (
          <Notice
            title={isFiltered ? frame.noMatch : frame.empty}
            hint={isFiltered ? '' : hosts.empty}
          >
            {!isFiltered && <Command text="svc token create web-1.example.org --role web" />}
          </Notice>
        )}
        <div class="foot">
          <CountLine shown={pages.rows.length} total={pages.total} words={frame.rows} />
        </div>
      </section>
    </Screen>
  )
}

function columns(): readonly Column<Host>[] {
  const { hosts } = words()
  return [
    { name: 'host', label: hosts.host, cell: ({ hostname }) => <b>{hostname}</b> },
    { name: 'role', label: hosts.role, isWideOnly: true, cell: ({ role }) => role },
    { name: 'state', label: hosts.state, cell: (host) => <HostState host={host} /> },
    {
      name: 'ends',
      label: hosts.ends,
      cell: ({ cert_not_after: end }) => (end === null ? '–' : <Relative at={end} />),
    },
    {
      name: 'poll',
      label: hosts.lastPoll,
      isWideOnly: true,
      cell: ({ last_poll_at: at }) => (at === null ? hosts.never : <Relative at={at} />),
    },
    {
      name: 'version',
      label: hosts.version,
      isWideOnly: true,
      cell: ({ agent_version: version }) => version ?? '–',
    },
  ]
}

export function HostState({ host }: { readonly host: Host }): JSX.Element {
  const { hosts } = words()
  if (host.revoked_at !== null) return <Pill tone="off" icon="octagon-x" text={hosts.revoked} />
  if (
    host.cert_not_after !== null &&
    host.atrasado &&
    Date.parse(host.cert_not_after) <= hubNowMs()
  ) {
    return <Pill tone="bad" icon="clock-alert" text={hosts.expired} />
  }
  if (host.atrasado) return <Pill tone="late" icon="alarm" text={hosts.late} />
  if (host.duplicado !== null) return <Pill tone="bad" icon="x" text={hosts.duplicated} />
  return <Pill tone="ok" icon="check" text={hosts.onTime} />
}
