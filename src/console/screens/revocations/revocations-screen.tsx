// Certificates that the hub has revoked, and the CA has not.

import type { JSX } from 'preact'
import { ask } from '../../api/client.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { PAGE_ROWS, usePages } from '../../api/pages.ts'
import { svc } from '../../commands/svc.ts'
import { hrefOf } from '../../frame/router.ts'
import { Hostname } from '../../parts/hostname.tsx'
import { Screen } from '../../frame/screen.tsx'
import { ListCard } from '../../parts/list-card.tsx'
import { Pill } from '../../parts/pill.tsx'
import { Relative } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'

type Revocation = AdminReplies['listCaRevocations']['revocations'][number]

export function RevocationsScreen(): JSX.Element {
  const { revocations: text } = words()
  const pages = usePages('listCaRevocations', async (after) => {
    const request = { limit: PAGE_ROWS, ...(after !== undefined && { after }) }
    const { revocations, next } = await ask('listCaRevocations', request)
    return { rows: revocations, next }
  })
  return (
    <Screen title={text.title} commands={[svc.listRevocations]}>
      <p class="muted">{text.about}</p>
      <ListCard
        title={text.list}
        pages={pages}
        empty={text.none}
        hrefOf={({ agente_id: id }) => hrefOf(`/hosts/${id}`)}
        columns={[
          {
            name: 'host',
            label: text.host,
            share: 28,
            narrowShare: 44,
            cell: ({ hostname }: Revocation) => <Hostname name={hostname} />,
          },
          {
            name: 'state',
            label: text.state,
            share: 14,
            narrowShare: 28,
            cell: ({ state }) =>
              state === 'waiting' ? (
                <Pill tone="due" icon="alarm" text={text.states.waiting} />
              ) : (
                <Pill tone="bad" icon="x" text={text.states.refused} />
              ),
          },
          {
            name: 'serial',
            label: text.serial,
            share: 18,
            isWideOnly: true,
            cell: ({ serial }) => <code>{serial}</code>,
          },
          {
            name: 'ends',
            label: text.ends,
            share: 12,
            narrowShare: 28,
            cell: ({ not_after: at }) => <Relative at={at} />,
          },
          {
            name: 'reason',
            label: text.reason,
            share: 28,
            isWideOnly: true,
            cell: ({ reason }) => <span title={reason ?? ''}>{reason ?? '–'}</span>,
          },
        ]}
      />
    </Screen>
  )
}
