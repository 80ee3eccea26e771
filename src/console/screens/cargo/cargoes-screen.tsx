// All cargo: what it is, who gets it, and how far that is.

import { Fragment, type JSX } from 'preact'
import { ask } from '../../api/client.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { PAGE_ROWS, usePages } from '../../api/pages.ts'
import { svc } from '../../commands/svc.ts'
import { here, hrefOf, setQuery } from '../../frame/router.ts'
import { Screen } from '../../frame/screen.tsx'
import { useRowKeys } from '../../frame/use-row-keys.ts'
import { Notice } from '../../parts/answer.tsx'
import { Command } from '../../parts/command.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { ArrivedButton, PagedRows } from '../../parts/paged-rows.tsx'
import { Icon } from '../../parts/icon.tsx'
import { IfAllowed } from '../../parts/if-allowed.tsx'
import { formatCount, Relative } from '../../parts/time.tsx'
import { StatusBar, sumStatuses } from '../../pictures/status-bar.tsx'
import { words } from '../../words/words.ts'
import { CreateDialog } from './create-dialog.tsx'

type Cargo = AdminReplies['listCargoes']['cargas'][number]

export function CargoesScreen(): JSX.Element {
  const { cargo, frame } = words()
  useRowKeys()
  const pages = usePages('listCargoes', async (after) => {
    const { cargas, next } = await ask('listCargoes', {
      limit: PAGE_ROWS,
      ...(after !== undefined && { after }),
    })
    return { rows: cargas, next }
  })
  return (
    <Screen title={cargo.title} wire="carga" commands={[svc.listCargo, svc.createCertificate]}>
      <section class="card" aria-label={cargo.title}>
        <div class="filters">
          <h2>{cargo.heading}</h2>
          <span class="grow" />
          <ArrivedButton pages={pages} />
          <IfAllowed name="createCargo">
            <button
              type="button"
              class="button primary"
              onClick={() => setQuery({ create: 'csr_cert' })}
            >
              <Icon name="plus" small />
              {cargo.make}
            </button>
          </IfAllowed>
        </div>
        <PagedRows
          label={cargo.title}
          pages={pages}
          columns={columns()}
          hrefOf={({ id }) => hrefOf(`/cargo/${id}`)}
          empty={
            <Notice title={frame.empty} hint={cargo.empty}>
              <Command text={svc.createCertificate} />
            </Notice>
          }
        />
      </section>
      {here.value.query['create'] !== undefined && (
        <IfAllowed name="createCargo">
          <CreateDialog onClose={() => setQuery({ create: undefined })} />
        </IfAllowed>
      )}
    </Screen>
  )
}

/** The bar, and in words what is not done. */
function Far({ statuses }: Pick<Cargo, 'statuses'>): JSX.Element {
  const { cargo } = words()
  if (sumStatuses(statuses) === 0) return <small class="muted">{cargo.noHosts}</small>
  const { falhou, pendente, em_andamento: underWay } = statuses
  const open = [
    ['falhou', falhou],
    ['pendente', pendente],
    ['em_andamento', underWay],
  ] as const
  const parts = open
    .filter(([, count]) => count > 0)
    .map(([status, count]) => ({ status, text: cargo.left[status](count) }))
  return (
    <span class="far">
      <StatusBar statuses={statuses} withLegend={false} />
      {parts.length > 0 && (
        <small class="muted">
          {parts.map(({ status, text }, at) => (
            <Fragment key={status}>
              {at > 0 && ', '}
              <span class={status === 'falhou' ? 'c-bad' : undefined}>{text}</span>
            </Fragment>
          ))}
        </small>
      )}
    </span>
  )
}

function columns(): readonly Column<Cargo>[] {
  const { cargo } = words()
  return [
    {
      name: 'name',
      label: cargo.name,
      share: 22,
      narrowShare: 36,
      cell: ({ nome, versao }) => (
        <>
          <b>{nome}</b> <span class="faint">v{versao}</span>
        </>
      ),
    },
    {
      name: 'type',
      label: cargo.type,
      share: 18,
      narrowShare: 26,
      cell: ({ tipo }) => (
        <>
          {words().host.tipos[tipo] ?? tipo} <span class="wire wide">{tipo}</span>
        </>
      ),
    },
    {
      name: 'who',
      label: cargo.who,
      share: 18,
      isWideOnly: true,
      cell: ({ where, statuses }) =>
        where === null ? cargo.named(formatCount(sumStatuses(statuses))) : <code>{where}</code>,
    },
    {
      name: 'statuses',
      label: cargo.statuses,
      share: 28,
      narrowShare: 38,
      cell: ({ statuses }) => <Far statuses={statuses} />,
    },
    {
      name: 'created',
      label: cargo.created,
      share: 14,
      isWideOnly: true,
      cell: ({ created_at: at }) => <Relative at={at} />,
    },
  ]
}
