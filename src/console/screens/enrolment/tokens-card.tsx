// The enrolment tokens, newest first.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { ask } from '../../api/client.ts'
import { now } from '../../api/clock.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { PAGE_ROWS, usePages } from '../../api/pages.ts'
import { isAtLeast } from '../../api/session.ts'
import { roleNeeded } from '../../api/operations.ts'
import { svc } from '../../commands/svc.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { Hostname } from '../../parts/hostname.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { Icon } from '../../parts/icon.tsx'
import { IfAllowed } from '../../parts/if-allowed.tsx'
import { ListCard } from '../../parts/list-card.tsx'
import { Pill } from '../../parts/pill.tsx'
import { Relative } from '../../parts/time.tsx'
import { words } from '../../words/words.ts'
import { CreateTokenDialog } from './create-token-dialog.tsx'
import { stateOfToken } from './describe-enrolment.ts'

type Token = AdminReplies['listTokens']['tokens'][number]

export function TokensCard({
  onCreated,
}: {
  readonly onCreated: (token: AdminReplies['createToken']) => void
}): JSX.Element {
  const { enrolment: text } = words()
  const [isCreating, setCreating] = useState(false)
  const [revoked, setRevoked] = useState<Token | undefined>(undefined)
  const pages = usePages('listTokens', async (after) => {
    const request = { limit: PAGE_ROWS, ...(after !== undefined && { after }) }
    const { tokens, next } = await ask('listTokens', request)
    return { rows: tokens, next }
  })
  return (
    <>
      <ListCard
        title={text.tokens}
        pages={pages}
        empty={text.noTokens}
        emptyCommand={svc.createToken}
        columns={columns(setRevoked)}
        acts={
          <IfAllowed name="createToken">
            <button type="button" class="button small primary" onClick={() => setCreating(true)}>
              <Icon name="plus" small />
              {text.newToken}
            </button>
          </IfAllowed>
        }
      />
      {isCreating && (
        <CreateTokenDialog
          onCreated={onCreated}
          onClose={() => {
            setCreating(false)
            pages.reload()
          }}
        />
      )}
      {revoked !== undefined && (
        <ActDialog
          title={text.revokeTitle(revoked.hostname)}
          name="revokeToken"
          request={{ token: revoked.id }}
          label={text.revoke}
          isDangerous
          onClose={() => setRevoked(undefined)}
          onDone={pages.reload}
        >
          <p>{text.revokeText}</p>
        </ActDialog>
      )}
    </>
  )
}

function columns(onRevoke: (token: Token) => void): readonly Column<Token>[] {
  const { enrolment: text } = words()
  const mayRevoke = isAtLeast(roleNeeded('revokeToken'))
  return [
    {
      name: 'hostname',
      label: text.hostname,
      share: 26,
      narrowShare: 44,
      cell: ({ hostname }) => <Hostname name={hostname} />,
    },
    {
      name: 'state',
      label: text.state,
      share: 22,
      narrowShare: 27,
      cell: (token) => <TokenState token={token} />,
    },
    { name: 'role', label: text.role, share: 10, isWideOnly: true, cell: ({ role }) => role },
    {
      name: 'ends',
      label: text.ends,
      share: 16,
      isWideOnly: true,
      cell: ({ consumed_at: usedAt, expires_at: end }) => <Relative at={usedAt ?? end} />,
    },
    {
      name: 'labels',
      label: text.labels,
      share: 8,
      isWideOnly: true,
      cell: ({ labels }) => labels.join(', '),
    },
    ...(mayRevoke
      ? [
          {
            name: 'acts',
            label: text.acts,
            share: 18,
            narrowShare: 29,
            cell: (token: Token) =>
              stateOfToken(token, now.value) === 'open' && (
                <button
                  type="button"
                  class="button small"
                  aria-label={text.revokeTitle(token.hostname)}
                  onClick={() => onRevoke(token)}
                >
                  {text.revoke}
                </button>
              ),
          },
        ]
      : []),
  ]
}

function TokenState({ token }: { readonly token: Token }): JSX.Element {
  const { enrolment: text } = words()
  const state = stateOfToken(token, now.value)
  return (
    <>
      {state === 'open' && <Pill tone="info" icon="alarm" text={text.states.open} />}
      {state === 'used' && <Pill tone="ok" icon="check" text={text.states.used} />}
      {state === 'ended' && <Pill tone="off" icon="x" text={text.states.ended} />}{' '}
      {token.mismatches > 0 && (
        <Pill tone="late" icon="octagon-x" text={text.mismatches(token.mismatches)} />
      )}
    </>
  )
}
