// The admin tokens, newest first: made with their text shown once, and revoked.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { ask } from '../../api/client.ts'
import { now } from '../../api/clock.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { PAGE_ROWS, usePages } from '../../api/pages.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ListCard } from '../../parts/list-card.tsx'
import { Pill } from '../../parts/pill.tsx'
import { ShownOnce } from '../../parts/shown-once.tsx'
import { Relative } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'
import { CreateAdminTokenDialog } from './create-admin-token-dialog.tsx'
import { CreateLinkDialog, type SignInLink } from './create-link-dialog.tsx'
import { stateOfAdminToken } from './describe-access.ts'

type AdminToken = AdminReplies['listAccessTokens']['admin_tokens'][number]

export function AdminTokensCard(): JSX.Element {
  const { access: text } = words()
  const [isCreating, setCreating] = useState(false)
  const [isLinking, setLinking] = useState(false)
  const [link, setLink] = useState<SignInLink | undefined>(undefined)
  const [created, setCreated] = useState<AdminReplies['createAccessToken'] | undefined>(undefined)
  const [revoked, setRevoked] = useState<AdminToken | undefined>(undefined)
  const pages = usePages('listAccessTokens', async (after) => {
    const request = { limit: PAGE_ROWS, ...(after !== undefined && { after }) }
    const { admin_tokens: tokens, next } = await ask('listAccessTokens', request)
    return { rows: tokens, next }
  })
  return (
    <>
      <ListCard
        title={text.tokens}
        pages={pages}
        empty={text.noTokens}
        columns={columns(setRevoked)}
        acts={
          <>
            <button type="button" class="button small" onClick={() => setLinking(true)}>
              <Icon name="plus" small />
              {text.newLink}
            </button>
            <button type="button" class="button small primary" onClick={() => setCreating(true)}>
              <Icon name="plus" small />
              {text.newToken}
            </button>
          </>
        }
      />
      {isCreating && (
        <CreateAdminTokenDialog
          onCreated={(token) => {
            setCreated(token)
            pages.reload()
          }}
          onClose={() => setCreating(false)}
        />
      )}
      {created !== undefined && (
        <ShownOnce
          title={text.made(created.name)}
          secret={created.token}
          onClose={() => setCreated(undefined)}
        />
      )}
      {isLinking && (
        <CreateLinkDialog
          onCreated={(made) => {
            setLink(made)
            pages.reload()
          }}
          onClose={() => setLinking(false)}
        />
      )}
      {link !== undefined && (
        <ShownOnce
          title={text.linkMade(link.name)}
          secret={link.link}
          onClose={() => setLink(undefined)}
        />
      )}
      {revoked !== undefined && (
        <ActDialog
          title={text.revokeTitle(revoked.name)}
          name="revokeAccessToken"
          request={{ token: revoked.id }}
          label={text.revoke}
          isDangerous
          typed={revoked.name}
          onClose={() => setRevoked(undefined)}
          onDone={pages.reload}
        >
          <p>{text.revokeText}</p>
        </ActDialog>
      )}
    </>
  )
}

function columns(onRevoke: (token: AdminToken) => void): readonly Column<AdminToken>[] {
  const { access: text } = words()
  return [
    {
      name: 'name',
      label: text.name,
      share: 24,
      narrowShare: 37,
      cell: ({ name }) => <b>{name}</b>,
    },
    {
      name: 'role',
      label: text.role,
      share: 10,
      isWideOnly: true,
      cell: ({ role }) => <code>{role}</code>,
    },
    {
      name: 'state',
      label: text.state,
      share: 16,
      narrowShare: 33,
      cell: (token) => {
        const state = stateOfAdminToken(token, now.value)
        return (
          <Pill
            tone={state === 'good' ? 'ok' : 'off'}
            icon={state === 'good' ? 'check' : 'x'}
            text={text.states[state]}
          />
        )
      },
    },
    {
      name: 'used',
      label: text.lastUsed,
      share: 14,
      isWideOnly: true,
      cell: ({ last_used_at: at }) => (at === null ? text.never : <Relative at={at} />),
    },
    {
      name: 'ends',
      label: text.ends,
      share: 14,
      isWideOnly: true,
      cell: ({ expires_at: at }) => <Relative at={at} />,
    },
    {
      name: 'only',
      label: text.only,
      share: 10,
      isWideOnly: true,
      cell: ({ only }) => (only === null ? text.all : <code>{only}</code>),
    },
    {
      name: 'acts',
      label: text.acts,
      share: 16,
      narrowShare: 30,
      cell: (token) =>
        stateOfAdminToken(token, now.value) === 'good' && (
          <button
            type="button"
            class="button small"
            aria-label={text.revokeTitle(token.name)}
            onClick={() => onRevoke(token)}
          >
            {text.revoke}
          </button>
        ),
    },
  ]
}
