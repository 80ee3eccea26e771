// The one state of a host that matters most, as an icon and a word.

import type { JSX } from 'preact'
import { now } from '../../api/clock.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { Pill } from '../../parts/pill.tsx'
import { useOfTime } from '../../parts/use-of-time.ts'
import { words } from '../../words/words.ts'

type Host = Pick<
  AdminReplies['listAgents']['agentes'][number],
  'revoked_at' | 'cert_not_after' | 'atrasado' | 'duplicado'
>

export function HostState({ host }: { readonly host: Host }): JSX.Element {
  const { hosts } = words()
  const { revoked_at: revokedAt, cert_not_after: end, atrasado, duplicado } = host
  const hasExpired = useOfTime(() => end !== null && Date.parse(end) <= now.value, [end])
  if (revokedAt !== null) return <Pill tone="off" icon="octagon-x" text={hosts.states.revoked} />
  if (hasExpired) {
    return <Pill tone="bad" icon="clock-alert" text={hosts.states.expired} />
  }
  if (duplicado !== null) return <Pill tone="bad" icon="x" text={hosts.duplicated} />
  if (atrasado) return <Pill tone="late" icon="alarm" text={hosts.states.late} />
  return <Pill tone="ok" icon="check" text={hosts.states.ok} />
}
