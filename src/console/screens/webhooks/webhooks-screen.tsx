// Who gets the entries of the audit log, and what waits for each.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { ask } from '../../api/client.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { PAGE_ROWS, usePages } from '../../api/pages.ts'
import { isAtLeast } from '../../api/session.ts'
import { roleNeeded } from '../../api/operations.ts'
import { svc } from '../../commands/svc.ts'
import { hrefOf } from '../../frame/router.ts'
import { Screen } from '../../frame/screen.tsx'
import { Notice } from '../../parts/answer.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ListCard } from '../../parts/list-card.tsx'
import { ShownOnce } from '../../parts/shown-once.tsx'
import { formatCount, Relative } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'
import { CreateWebhookDialog } from './create-webhook-dialog.tsx'
import { formatOf } from './describe-webhook.ts'
import { WebhookState } from './webhook-state.tsx'

type Webhook = AdminReplies['listWebhooks']['webhooks'][number]

export function WebhooksScreen(): JSX.Element {
  const { webhooks: text, frame } = words()
  return (
    <Screen title={text.title} wire="webhook" commands={[svc.listWebhooks]}>
      {isAtLeast(roleNeeded('listWebhooks')) ? (
        <WebhooksCard />
      ) : (
        <Notice title={frame.forbidden} hint={text.adminsOnly} />
      )}
    </Screen>
  )
}

function WebhooksCard(): JSX.Element {
  const { webhooks: text } = words()
  const [isCreating, setCreating] = useState(false)
  const [created, setCreated] = useState<AdminReplies['createWebhook'] | undefined>(undefined)
  const pages = usePages('listWebhooks', async (after) => {
    const request = { limit: PAGE_ROWS, ...(after !== undefined && { after }) }
    const { webhooks, next } = await ask('listWebhooks', request)
    return { rows: webhooks, next }
  })
  return (
    <>
      <ListCard
        title={text.list}
        pages={pages}
        empty={text.none}
        emptyCommand={svc.createWebhook}
        hrefOf={({ id }) => hrefOf(`/webhooks/${encodeURIComponent(id)}`)}
        columns={[
          {
            name: 'url',
            label: text.url,
            share: 40,
            narrowShare: 46,
            cell: ({ url }: Webhook) => <b>{url}</b>,
          },
          {
            name: 'state',
            label: text.state,
            share: 16,
            narrowShare: 30,
            cell: ({ state }) => <WebhookState state={state} />,
          },
          {
            name: 'format',
            label: text.format,
            share: 12,
            isWideOnly: true,
            cell: ({ url }) => text.formats[formatOf(url)],
          },
          {
            name: 'backlog',
            label: text.backlog,
            share: 10,
            narrowShare: 24,
            cell: ({ backlog }) => formatCount(backlog),
          },
          {
            name: 'dead',
            label: text.dead,
            share: 10,
            isWideOnly: true,
            cell: ({ dead }) => formatCount(dead),
          },
          {
            name: 'success',
            label: text.lastSuccess,
            share: 12,
            isWideOnly: true,
            cell: ({ last_success_at: at }) => (at === null ? text.never : <Relative at={at} />),
          },
        ]}
        acts={
          <button type="button" class="button small primary" onClick={() => setCreating(true)}>
            <Icon name="plus" small />
            {text.newWebhook}
          </button>
        }
      />
      {isCreating && (
        <CreateWebhookDialog
          onCreated={(webhook) => {
            setCreated(webhook)
            pages.reload()
          }}
          onClose={() => setCreating(false)}
        />
      )}
      {created !== undefined && (
        <ShownOnce
          title={text.made}
          secret={created.secret ?? undefined}
          onClose={() => setCreated(undefined)}
        >
          <p class="muted">{created.secret === null ? text.noSecret : text.secretFor}</p>
        </ShownOnce>
      )}
    </>
  )
}
