// Who is signed in; without role admin one sees the sessions of the own token alone.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { ask } from '../../api/client.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { PAGE_ROWS, usePages } from '../../api/pages.ts'
import { useQuery } from '../../api/query.ts'
import { isAtLeast } from '../../api/session.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { ListCard } from '../../parts/list-card.tsx'
import { Pill } from '../../parts/pill.tsx'
import { Relative } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'

type Session = AdminReplies['listSessions']['sessions'][number]

export function SessionsCard(): JSX.Element {
  const { access: text } = words()
  const [ended, setEnded] = useState<Session | undefined>(undefined)
  const own = useQuery('showSession', {})
  const pages = usePages('listSessions', async (after) => {
    const request = { limit: PAGE_ROWS, ...(after !== undefined && { after }) }
    const { sessions, next } = await ask('listSessions', request)
    return { rows: sessions, next }
  })
  const ownId = own.value.data?.id
  // The own session ends by “Sign out”; a viewer has no other act here.
  const mayEnd = isAtLeast('operator')
  return (
    <>
      <ListCard
        title={text.sessions}
        pages={pages}
        empty={text.noSessions}
        columns={[
          {
            name: 'name',
            label: text.token,
            share: 28,
            narrowShare: 38,
            cell: ({ id, name }: Session) => (
              <>
                <b>{name}</b> {id === ownId && <Pill tone="ok" icon="check" text={text.own} />}
              </>
            ),
          },
          {
            name: 'role',
            label: text.role,
            share: 16,
            narrowShare: 32,
            cell: ({ role }) => <code>{role}</code>,
          },
          {
            name: 'address',
            label: text.address,
            share: 16,
            isWideOnly: true,
            cell: ({ address }) => <code>{address}</code>,
          },
          {
            name: 'started',
            label: text.started,
            share: 14,
            isWideOnly: true,
            cell: ({ started_at: at }) => <Relative at={at} />,
          },
          {
            name: 'used',
            label: text.lastUsed,
            share: 14,
            isWideOnly: true,
            cell: ({ last_used_at: at }) => <Relative at={at} />,
          },
          ...(mayEnd
            ? [
                {
                  name: 'acts',
                  label: text.acts,
                  share: 12,
                  narrowShare: 30,
                  cell: (session: Session) =>
                    session.id !== ownId && (
                      <button
                        type="button"
                        class="button small"
                        aria-label={text.endTitle(session.name)}
                        onClick={() => setEnded(session)}
                      >
                        {text.end}
                      </button>
                    ),
                },
              ]
            : []),
        ]}
      />
      {ended !== undefined && (
        <ActDialog
          title={text.endTitle(ended.name)}
          name="endSession"
          request={{ session: ended.id }}
          label={text.end}
          isDangerous
          onClose={() => setEnded(undefined)}
          onDone={pages.reload}
        >
          <p>{text.endText}</p>
        </ActDialog>
      )}
    </>
  )
}
