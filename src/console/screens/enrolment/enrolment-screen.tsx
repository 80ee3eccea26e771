// How hosts come in: by a token for one of them, or by a rule for many.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import type { AdminReplies } from '../../api/operations.ts'
import { svc } from '../../commands/svc.ts'
import { Screen } from '../../frame/screen.tsx'
import { words } from '../../words/words.ts'
import { CreatedTokens } from './created-tokens.tsx'
import { JoinRulesCard } from './join-rules-card.tsx'
import { TokensCard } from './tokens-card.tsx'

type Created = AdminReplies['createToken']

export function EnrolmentScreen(): JSX.Element {
  const { enrolment: text } = words()
  /** Their texts are nowhere else: a reload of the page loses them. */
  const [created, setCreated] = useState<readonly Created[]>([])
  return (
    <Screen title={text.title} commands={[svc.createToken, svc.listRules]}>
      {created.length > 0 && <CreatedTokens created={created} onClose={() => setCreated([])} />}
      <TokensCard onCreated={(token) => setCreated((known) => [...known, token])} />
      <JoinRulesCard />
    </Screen>
  )
}
