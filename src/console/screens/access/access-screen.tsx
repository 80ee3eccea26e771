// Who has access, who is signed in, and who was refused.

import type { JSX } from 'preact'
import { svc } from '../../commands/svc.ts'
import { Screen } from '../../frame/screen.tsx'
import { IfAllowed } from '../../parts/if-allowed.tsx'
import { words } from '../../words/words.ts'
import { AdminTokensCard } from './admin-tokens-card.tsx'
import { PasskeysCard } from './passkeys-card.tsx'
import { RefusedCard } from './refused-card.tsx'
import { SessionsCard } from './sessions-card.tsx'

export function AccessScreen(): JSX.Element {
  const { access: text } = words()
  return (
    <Screen
      title={text.title}
      commands={[svc.listAdminTokens, svc.listSessions, svc.listPasskeys, svc.listRefused]}
    >
      <IfAllowed name="listAccessTokens">
        <AdminTokensCard />
      </IfAllowed>
      <SessionsCard />
      <PasskeysCard />
      <IfAllowed name="listAccessTokens">
        <RefusedCard />
      </IfAllowed>
    </Screen>
  )
}
