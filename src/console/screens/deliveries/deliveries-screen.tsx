// All deliveries: what failed and why on top, below it each one, filtered, sorted and paged at the hub.

import { useMemo, useState } from 'preact/hooks'
import type { ComponentChildren, JSX } from 'preact'
import { ask } from '../../api/client.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { usePages } from '../../api/pages.ts'
import { isAllowed } from '../../api/session.ts'
import { svc } from '../../commands/svc.ts'
import { here, hrefOf, setQuery } from '../../frame/router.ts'
import { Hostname } from '../../parts/hostname.tsx'
import { Screen } from '../../frame/screen.tsx'
import { useFleetSummary } from '../../frame/use-fleet-summary.ts'
import { useRowKeys } from '../../frame/use-row-keys.ts'
import { Notice } from '../../parts/answer.tsx'
import { Command } from '../../parts/command.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { ArrivedButton, PagedRows } from '../../parts/paged-rows.tsx'
import { DeliveryStatus } from '../../parts/delivery-status.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { IfAllowed } from '../../parts/if-allowed.tsx'
import { Relative } from '../../parts/time.tsx'
import { type Words, words } from '../../words/words.ts'
import { DeliveryDialog } from './delivery-dialog.tsx'
import { listSorts, readFilters, STATUSES } from './delivery-filters.ts'
import { FailuresCard } from './failures-card.tsx'
import { firstLine } from './group-failures.ts'
import { RetryDialog } from './retry-dialog.tsx'

type Delivery = AdminReplies['findDeliveries']['entregas'][number]

/** As many as one request may name. */
const RETRIED_MAX = 500

export function DeliveriesScreen(): JSX.Element {
  const { deliveries, frame } = words()
  useRowKeys()
  const { query } = here.value
  const filters = readFilters(query)
  const summary = useFleetSummary()
  const pages = usePages(`listDeliveries ${JSON.stringify(filters)}`, async (after, limit) => {
    const { entregas, next, total } = await ask('findDeliveries', {
      ...filters,
      limit,
      ...(after !== undefined && { after }),
    })
    return { rows: entregas, next, total }
  })
  const { sort: _order, ...narrowing } = filters
  const isFiltered = Object.keys(narrowing).length > 0
  const columns = useMemo(() => columnsIn(deliveries), [deliveries])
  const { open } = query
  const maySee = isAllowed('showDelivery')
  return (
    <Screen
      title={deliveries.title}
      wire="entrega"
      commands={[svc.listDeliveries(filters), svc.retryAll]}
    >
      <FailuresCard failures={summary.value.data?.failures ?? []} />
      <section class="card" aria-label={deliveries.title}>
        <Filters filters={filters} isFiltered={isFiltered}>
          {filters.status?.[0] === 'falhou' && <RetryShown rows={pages.rows} />}
          <ArrivedButton pages={pages} />
        </Filters>
        <PagedRows
          label={deliveries.title}
          pages={pages}
          columns={columns}
          hrefOf={({ id, agente_id: host }) =>
            maySee ? hrefOf('/deliveries', { ...query, open: id }) : hrefOf(`/hosts/${host}`)
          }
          empty={
            isFiltered ? (
              <Notice title={frame.noMatch} />
            ) : (
              <Notice title={frame.empty} hint={deliveries.empty}>
                <Command text={svc.createCertificate} />
              </Notice>
            )
          }
        />
      </section>
      {open !== undefined && maySee && (
        <DeliveryDialog key={open} id={open} onClose={() => setQuery({ open: undefined })} />
      )}
    </Screen>
  )
}

function Filters({
  filters,
  isFiltered,
  children,
}: {
  readonly filters: ReturnType<typeof readFilters>
  readonly isFiltered: boolean
  readonly children: ComponentChildren
}): JSX.Element {
  const { deliveries, frame, host } = words()
  const sorts = listSorts(filters)
  return (
    <div class="filters">
      <FilterField label={deliveries.filter} name="q" isInstant />
      <FilterField label={deliveries.byCargo} name="carga" />
      <FilterField label={deliveries.where} name="where" />
      <label class="field">
        <span class="visually-hidden">{deliveries.status}</span>
        <select
          value={filters.status?.[0] ?? ''}
          onChange={({ currentTarget }) => setQuery({ status: currentTarget.value })}
        >
          <option value="">{deliveries.anyStatus}</option>
          {STATUSES.map((one) => (
            <option key={one} value={one}>
              {host.statuses[one]}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        <span class="visually-hidden">{deliveries.order}</span>
        <select
          value={filters.sort ?? sorts[0]}
          onChange={({ currentTarget }) => setQuery({ sort: currentTarget.value })}
        >
          {sorts.map((one) => (
            <option key={one} value={one}>
              {deliveries.sorts[one]}
            </option>
          ))}
        </select>
      </label>
      <label class="row">
        <input
          type="checkbox"
          checked={filters.late === true}
          onChange={({ currentTarget }) =>
            setQuery({ late: currentTarget.checked ? '1' : undefined })
          }
        />
        {deliveries.late}
      </label>
      {(['agente', 'role'] as const).map(
        (name) =>
          filters[name] !== undefined && (
            <a
              key={name}
              class="button small"
              href={hrefOf('/deliveries', { ...here.value.query, [name]: undefined })}
            >
              {name === 'agente' ? deliveries.byAgent : deliveries.byRole}: {filters[name]} ×
            </a>
          ),
      )}
      {isFiltered && (
        <a class="button small quiet" href={hrefOf('/deliveries')}>
          {frame.clear}
        </a>
      )}
      {children}
    </div>
  )
}

/** What the filters left of the failed ones, as far as it is loaded. */
function RetryShown({ rows }: { readonly rows: readonly Delivery[] }): JSX.Element | null {
  const { deliveries } = words()
  const [retried, setRetried] = useState<readonly Delivery[] | undefined>(undefined)
  const failed = rows.filter(({ status }) => status === 'falhou').slice(0, RETRIED_MAX)
  if (failed.length === 0) return null
  return (
    <IfAllowed name="retryDeliveries">
      <button type="button" class="button small" onClick={() => setRetried(failed)}>
        {deliveries.retryShown(failed.length)}
      </button>
      {retried !== undefined && (
        <RetryDialog
          title={deliveries.retryShownTitle(retried.length)}
          request={{ entregas: retried.map(({ id }) => id) }}
          reasons={[...new Set(retried.map(({ erro }) => firstLine(erro ?? '')))]}
          nome={retried[0]?.nome ?? ''}
          onClose={() => setRetried(undefined)}
        />
      )}
    </IfAllowed>
  )
}

function columnsIn(deliveries: Words['deliveries']): readonly Column<Delivery>[] {
  return [
    {
      name: 'host',
      label: deliveries.host,
      share: 26,
      narrowShare: 40,
      cell: ({ hostname }) => <Hostname name={hostname} />,
    },
    {
      name: 'cargo',
      label: deliveries.cargo,
      share: 16,
      narrowShare: 26,
      cell: ({ nome, versao }) => (
        <>
          {nome} <span class="faint">v{versao}</span>
        </>
      ),
    },
    {
      name: 'status',
      label: deliveries.status,
      share: 18,
      narrowShare: 34,
      cell: (delivery) => <DeliveryStatus delivery={delivery} />,
    },
    {
      name: 'reason',
      label: deliveries.reason,
      share: 28,
      isWideOnly: true,
      cell: ({ erro, waiting_reason: waiting }) => firstLine(erro ?? waiting ?? '') || '–',
    },
    {
      name: 'since',
      label: deliveries.since,
      share: 12,
      isWideOnly: true,
      cell: ({ updated_at: at }) => <Relative at={at} />,
    },
  ]
}
