// For how long a host has said nothing.

import type { AdminUrgentHost } from '../../../protocol/admin/fleet-summary.ts'
import { describeDuration } from '../../parts/durations.ts'
import { words } from '../../words/words.ts'

export function describeSilence(
  { last_contact_at: at }: Pick<AdminUrgentHost, 'last_contact_at'>,
  nowMs: number,
): string {
  const { overview, times } = words()
  if (at === null) return overview.neverSeen
  return overview.silentFor(describeDuration(nowMs - Date.parse(at), times))
}
