// One carga: how far it is, who has it, who waits for it, and its next version.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { ask } from '../../api/client.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { usePages } from '../../api/pages.ts'
import { useQuery } from '../../api/query.ts'
import { svc } from '../../commands/svc.ts'
import { goTo, here, hrefOf, setQuery } from '../../frame/router.ts'
import { Hostname } from '../../parts/hostname.tsx'
import { Screen } from '../../frame/screen.tsx'
import { useFleetSummary } from '../../frame/use-fleet-summary.ts'
import { useRowKeys } from '../../frame/use-row-keys.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { Answer, Failure } from '../../parts/answer.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { DeliveryStatus } from '../../parts/delivery-status.tsx'
import { Icon } from '../../parts/icon.tsx'
import { IfAllowed } from '../../parts/if-allowed.tsx'
import { formatCount, Relative, Time } from '../../parts/time.tsx'
import { StatusBar } from '../../pictures/status-bar.tsx'
import { words } from '../../words/words.ts'
import type { ScreenProperties } from '../routes.tsx'
import { SelectDialog } from './select-dialog.tsx'
import { SelectionCard } from './selection-card.tsx'
import { UpdateDialog } from './update-dialog.tsx'

type Cargo = AdminReplies['showCargo']

export function CargoScreen({ id = '' }: ScreenProperties): JSX.Element {
  const { cargo } = words()
  const shown = useQuery('showCargo', { carga: id })
  const name = shown.value.data?.nome ?? id
  return (
    <Screen
      title={name}
      wire="carga"
      above={[cargo.title, hrefOf('/cargo')]}
      commands={[svc.showCargo(name), svc.listDeliveries({ carga: name }), svc.showSelection(name)]}
    >
      <Answer shown={shown.value}>{(data) => <CargoPage cargo={data} />}</Answer>
    </Screen>
  )
}

function CargoPage({ cargo }: { readonly cargo: Cargo }): JSX.Element {
  const { cargo: text } = words()
  return (
    <>
      <div class="hosthead">
        <h2>{cargo.nome}</h2>
        <code>{cargo.tipo}</code>
        <span class="faint">v{cargo.versao}</span>
        <span class="grow" />
        <Acts cargo={cargo} />
      </div>
      <section class="card" aria-labelledby="far">
        <header>
          <h2 id="far">{text.statuses}</h2>
          <span class="grow" />
          <a class="link" href={hrefOf('/deliveries', { carga: cargo.id })}>
            {text.allHosts}
          </a>
        </header>
        <div class="body stack">
          {cargo.entregas === 0 ? (
            <p class="muted">{text.noHosts}</p>
          ) : (
            <StatusBar statuses={cargo.statuses} withLegend />
          )}
          <OpenRollout nome={cargo.nome} />
        </div>
      </section>
      {cargo.where !== null && <SelectionCard cargo={cargo} where={cargo.where} />}
      <div class="two">
        <HostsCard id={cargo.id} />
        <FactsCard cargo={cargo} />
      </div>
    </>
  )
}

/** As far as the summary names it: the first twenty that are open. */
function OpenRollout({ nome }: { readonly nome: string }): JSX.Element | null {
  const { cargo: text } = words()
  const { data } = useFleetSummary().value
  const open = data?.rollouts.find((rollout) => rollout.nome === nome)
  if (open === undefined) return null
  return (
    <a class="link" href={hrefOf(`/rollouts/${open.id}`)}>
      {text.rollout}
    </a>
  )
}

function Acts({ cargo }: { readonly cargo: Cargo }): JSX.Element {
  const { cargo: text } = words()
  // As it was when somebody decided to remove it.
  const [removing, setRemoving] = useState<number | undefined>(undefined)
  const isUpdating = here.value.query['update'] !== undefined
  return (
    <span class="row acts">
      {cargo.tipo === 'csr_cert' && (
        <IfAllowed name="updateCargo">
          <button type="button" class="button" onClick={() => setQuery({ update: '1' })}>
            <Icon name="rotate" small />
            {text.update}
          </button>
          {isUpdating && (
            <UpdateDialog cargo={cargo} onClose={() => setQuery({ update: undefined })} />
          )}
        </IfAllowed>
      )}
      {cargo.tipo === 'selado' && (
        <IfAllowed name="updateCargo">
          <a class="button" href={hrefOf('/cargo/seal', { carga: cargo.id })}>
            <Icon name="rotate" small />
            {text.sealAgain}
          </a>
        </IfAllowed>
      )}
      {cargo.tipo !== 'push' && (
        <IfAllowed name="selectCargo">
          <button type="button" class="button" onClick={() => setQuery({ select: '1' })}>
            <Icon name="scan" small />
            {text.select}
          </button>
          {here.value.query['select'] !== undefined && (
            <SelectDialog cargo={cargo} onClose={() => setQuery({ select: undefined })} />
          )}
        </IfAllowed>
      )}
      <IfAllowed name="removeCargo">
        <button type="button" class="button danger" onClick={() => setRemoving(cargo.versao)}>
          {text.remove}
        </button>
      </IfAllowed>
      {removing !== undefined && (
        <ActDialog
          title={text.removeTitle(cargo.nome)}
          name="removeCargo"
          request={{ carga: cargo.id, versao: removing }}
          label={text.removeButton}
          isDangerous
          typed={cargo.nome}
          onClose={() => setRemoving(undefined)}
          onDone={() => goTo(hrefOf('/cargo'))}
        >
          <p>{text.removeText}</p>
        </ActDialog>
      )}
    </span>
  )
}

function HostsCard({ id }: { readonly id: string }): JSX.Element {
  const { cargo: text, deliveries } = words()
  useRowKeys()
  const pages = usePages(`findDeliveries ${id}`, async (after, limit) => {
    const { entregas, next, total } = await ask('findDeliveries', {
      carga: id,
      limit,
      ...(after !== undefined && { after }),
    })
    return { rows: entregas, next, total }
  })
  return (
    <section class="card" aria-labelledby="hosts">
      <header>
        <h2 id="hosts">{text.hosts}</h2>
        {pages.total !== undefined && <span class="faint">{formatCount(pages.total)}</span>}
      </header>
      {pages.error !== undefined && (
        <Failure error={pages.error} asksAgain={pages.rows.length > 0 ? 'shown' : 'empty'} />
      )}
      {pages.rows.length === 0 && !pages.isLoading && <p class="body muted">{text.noHosts}</p>}
      {pages.rows.length > 0 && (
        <DataTable
          label={text.hosts}
          rows={pages.rows}
          total={pages.total}
          hasMore={pages.hasMore}
          hrefOf={({ agente_id: host }) => hrefOf(`/hosts/${host}`)}
          onLook={pages.look}
          onEnd={pages.more}
          columns={[
            {
              name: 'host',
              label: deliveries.host,
              share: 46,
              narrowShare: 58,
              cell: ({ hostname, versao }) => (
                <>
                  <Hostname name={hostname} /> <span class="faint">v{versao}</span>
                </>
              ),
            },
            {
              name: 'status',
              label: deliveries.status,
              share: 32,
              narrowShare: 42,
              cell: (delivery) => <DeliveryStatus delivery={delivery} />,
            },
            {
              name: 'since',
              label: deliveries.since,
              share: 22,
              isWideOnly: true,
              cell: ({ updated_at: at }) => <Relative at={at} />,
            },
          ]}
        />
      )}
    </section>
  )
}

function FactsCard({ cargo }: { readonly cargo: Cargo }): JSX.Element {
  const { cargo: text, deliveries } = words()
  const { conteudo: content } = cargo
  return (
    <section class="card" aria-labelledby="cargo-facts">
      <header>
        <h2 id="cargo-facts">{text.facts}</h2>
      </header>
      <dl class="facts">
        <dt>{text.names}</dt>
        <dd>{cargo.sans.length === 0 ? text.none : cargo.sans.join(', ')}</dd>
        <dt>{text.who}</dt>
        <dd>
          {cargo.where === null ? (
            text.named(formatCount(cargo.entregas))
          ) : (
            <code>{cargo.where}</code>
          )}
        </dd>
        {content !== null && (
          <>
            <dt>{text.sealedFile}</dt>
            <dd>
              {text.bytes(formatCount(content.bytes))} <code>{content.sha256}</code>
            </dd>
          </>
        )}
        <dt>{text.created}</dt>
        <dd>
          <Time at={cargo.created_at} />
        </dd>
        <dt>{deliveries.id}</dt>
        <dd>
          <code>{cargo.id}</code>
        </dd>
      </dl>
    </section>
  )
}
