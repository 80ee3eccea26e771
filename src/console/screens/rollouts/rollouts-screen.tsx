// All rollouts, newest first, below the freeze that holds them back.

import type { JSX } from 'preact'
import { ask } from '../../api/client.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { PAGE_ROWS, usePages } from '../../api/pages.ts'
import { isAllowed } from '../../api/session.ts'
import { svc } from '../../commands/svc.ts'
import { here, hrefOf, setQuery } from '../../frame/router.ts'
import { Screen } from '../../frame/screen.tsx'
import { useFleetSummary } from '../../frame/use-fleet-summary.ts'
import { useRowKeys } from '../../frame/use-row-keys.ts'
import { Notice } from '../../parts/answer.tsx'
import { Command } from '../../parts/command.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { ArrivedButton, PagedRows } from '../../parts/paged-rows.tsx'
import { Icon } from '../../parts/icon.tsx'
import { IfAllowed } from '../../parts/if-allowed.tsx'
import { formatCount, Relative } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'
import { FreezeCard } from './freeze-card.tsx'
import { STARTS } from './read-start.ts'
import { nameOfRollout, RolloutState } from './rollout-state.tsx'
import { StartDialog } from './start-dialog.tsx'

type Rollout = AdminReplies['listRollouts']['rollouts'][number]

export function RolloutsScreen(): JSX.Element {
  const { rollouts, frame } = words()
  useRowKeys()
  // The counts at the side ask for it already; the overview draws its bars by the same figures.
  const { data: summary } = useFleetSummary().value
  const pages = usePages('listRollouts', async (after) => {
    const page = await ask('listRollouts', {
      limit: PAGE_ROWS,
      ...(after !== undefined && { after }),
    })
    return { rows: page.rollouts, next: page.next }
  })
  return (
    <Screen
      title={rollouts.title}
      wire="rollout"
      commands={[svc.listRollouts, svc.showFreeze, svc.rotateAll, svc.updateAll, svc.setFreeze]}
    >
      <FreezeCard />
      <section class="card" aria-label={rollouts.title}>
        {(pages.arrived > 0 || isAllowed('startRotation')) && (
          <div class="filters">
            <span class="grow" />
            <ArrivedButton pages={pages} />
            <StartButtons />
          </div>
        )}
        <PagedRows
          label={rollouts.title}
          pages={pages}
          columns={columns(summary?.rollouts ?? [])}
          hrefOf={({ id }) => hrefOf(`/rollouts/${id}`)}
          empty={
            <Notice title={frame.empty} hint={rollouts.empty}>
              <Command text={svc.updateInWaves} />
            </Notice>
          }
        />
      </section>
    </Screen>
  )
}

function StartButtons(): JSX.Element {
  const { rollouts } = words()
  const started = STARTS.find((start) => start === here.value.query['start'])
  const names = { rotation: 'startRotation', update: 'startUpdate' } as const
  const icons = { rotation: 'rotate', update: 'package' } as const
  return (
    <>
      {STARTS.map((start) => (
        <IfAllowed key={start} name={names[start]}>
          <button type="button" class="button" onClick={() => setQuery({ start })}>
            <Icon name={icons[start]} small />
            {rollouts.starts[start]}
          </button>
          {start === started && (
            <StartDialog start={start} onClose={() => setQuery({ start: undefined })} />
          )}
        </IfAllowed>
      ))}
    </>
  )
}

function columns(open: AdminReplies['summarizeFleet']['rollouts']): readonly Column<Rollout>[] {
  const { rollouts } = words()
  return [
    {
      name: 'what',
      label: rollouts.what,
      share: 30,
      cell: (rollout) => (
        <>
          <b>{nameOfRollout(rollout)}</b>
          {rollout.versao !== null && <span class="faint"> v{rollout.versao}</span>}
          {rollout.programa !== null && <span class="faint"> {rollout.programa}</span>}
        </>
      ),
    },
    {
      name: 'state',
      label: rollouts.state,
      share: 20,
      cell: ({ state }) => <RolloutState state={state} />,
    },
    {
      name: 'wave',
      label: rollouts.wave,
      share: 12,
      cell: ({ wave, waves }) => rollouts.waveOf(wave, waves.length),
    },
    {
      name: 'hosts',
      label: rollouts.hosts,
      share: 14,
      isWideOnly: true,
      cell: ({ id, given }) => {
        const hosts = open.find((one) => one.id === id)?.hosts ?? null
        return hosts === null
          ? rollouts.reached(formatCount(given))
          : rollouts.doneOf(formatCount(hosts.done), formatCount(hosts.total))
      },
    },
    {
      name: 'by',
      label: rollouts.by,
      share: 12,
      isWideOnly: true,
      cell: ({ started_by: by }) => by,
    },
    {
      name: 'since',
      label: rollouts.since,
      share: 12,
      isWideOnly: true,
      cell: ({ created_at: at }) => <Relative at={at} />,
    },
  ]
}
