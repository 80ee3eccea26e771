// All hosts: filtered, sorted and paged at the hub.

import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { AGENT_SORTS, AGENT_STATES } from './host-filters.ts'
import { ask } from '../../api/client.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { usePages } from '../../api/pages.ts'
import { svc } from '../../commands/svc.ts'
import { here, hrefOf, setQuery } from '../../frame/router.ts'
import { Hostname } from '../../parts/hostname.tsx'
import { Screen } from '../../frame/screen.tsx'
import { useRowKeys } from '../../frame/use-row-keys.ts'
import { Notice } from '../../parts/answer.tsx'
import { Command } from '../../parts/command.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { ArrivedButton, PagedRows } from '../../parts/paged-rows.tsx'
import { Relative } from '../../parts/time.tsx'
import { type Words, words } from '../../words/words.ts'
import { HostState } from './host-state.tsx'

type Host = AdminReplies['listAgents']['agentes'][number]

export function HostsScreen(): JSX.Element {
  const { hosts, frame } = words()
  useRowKeys()
  const { q, role, where, estado: wanted, sort: order } = here.value.query
  const estado = AGENT_STATES.find((one) => one === wanted)
  const sort = AGENT_SORTS.find((one) => one === order)
  const filters = {
    ...(q !== undefined && { q }),
    ...(role !== undefined && { role }),
    ...(where !== undefined && { where }),
    ...(estado !== undefined && { estado }),
    ...(sort !== undefined && { sort }),
  }
  const pages = usePages(`listAgents ${JSON.stringify(filters)}`, async (after, limit) => {
    const { agentes, next, total } = await ask('listAgents', {
      ...filters,
      limit,
      ...(after !== undefined && { after }),
    })
    return { rows: agentes, next, total }
  })
  const columns = useMemo(() => columnsIn(hosts), [hosts])
  const isFiltered = [q, role, where, estado].some((one) => one !== undefined)
  return (
    <Screen title={hosts.title} wire="agente" commands={[svc.listHosts(filters)]}>
      <section class="card" aria-label={hosts.title}>
        <div class="filters">
          <FilterField label={hosts.filter} name="q" isInstant />
          <FilterField label={hosts.where} name="where" />
          <label class="field">
            <span class="visually-hidden">{hosts.state}</span>
            <select
              value={estado ?? ''}
              onChange={({ currentTarget }) => setQuery({ estado: currentTarget.value })}
            >
              <option value="">{hosts.anyState}</option>
              {AGENT_STATES.map((one) => (
                <option key={one} value={one}>
                  {one === 'late' ? hosts.lateOrExpired : hosts.states[one]}
                </option>
              ))}
            </select>
          </label>
          <label class="field">
            <span class="visually-hidden">{hosts.order}</span>
            <select
              value={sort ?? 'hostname'}
              onChange={({ currentTarget }) => setQuery({ sort: currentTarget.value })}
            >
              {AGENT_SORTS.map((one) => (
                <option key={one} value={one}>
                  {hosts.sorts[one]}
                </option>
              ))}
            </select>
          </label>
          {isFiltered && (
            <a class="button small quiet" href={hrefOf('/hosts')}>
              {frame.clear}
            </a>
          )}
          <ArrivedButton pages={pages} />
        </div>
        <PagedRows
          label={hosts.title}
          pages={pages}
          columns={columns}
          hrefOf={({ id }) => hrefOf(`/hosts/${id}`)}
          empty={
            isFiltered ? (
              <Notice title={frame.noMatch} />
            ) : (
              <Notice title={frame.empty} hint={hosts.empty}>
                <Command text={svc.createToken} />
              </Notice>
            )
          }
        />
      </section>
    </Screen>
  )
}

function columnsIn(hosts: Words['hosts']): readonly Column<Host>[] {
  return [
    {
      name: 'host',
      label: hosts.host,
      share: 34,
      narrowShare: 42,
      cell: ({ hostname }) => <Hostname name={hostname} />,
    },
    {
      name: 'state',
      label: hosts.state,
      share: 18,
      narrowShare: 29,
      cell: (host) => <HostState host={host} />,
    },
    {
      name: 'ends',
      label: hosts.ends,
      share: 14,
      narrowShare: 29,
      cell: ({ cert_not_after: end }) => (end === null ? '–' : <Relative at={end} />),
    },
    { name: 'role', label: hosts.role, share: 10, isWideOnly: true, cell: ({ role }) => role },
    {
      name: 'poll',
      label: hosts.lastPoll,
      share: 14,
      isWideOnly: true,
      cell: ({ last_poll_at: at }) => (at === null ? hosts.never : <Relative at={at} />),
    },
    {
      name: 'version',
      label: hosts.version,
      share: 10,
      isWideOnly: true,
      cell: ({ agent_version: version }) => version ?? '–',
    },
  ]
}
