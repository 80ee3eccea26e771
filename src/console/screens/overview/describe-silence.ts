// For how long a host has said nothing, and whether it says something at all.

import type { AdminUrgentHost } from '../../../protocol/admin/fleet-summary.ts'
import { describeDuration } from '../../parts/durations.ts'
import { words } from '../../words/words.ts'

/** Ten polls, unless somebody set another interval. */
const TALKS_MS = 5 * 60_000

type Heard = Pick<AdminUrgentHost, 'last_contact_at'>

/** It is there: what it does not do is no matter of host or network. */
export function isHeardOf({ last_contact_at: at }: Heard, nowMs: number): boolean {
  return at !== null && nowMs - Date.parse(at) < TALKS_MS
}

export function describeSilence({ last_contact_at: at }: Heard, nowMs: number): string {
  const { overview, times } = words()
  if (at === null) return overview.neverSeen
  return overview.silentFor(describeDuration(nowMs - Date.parse(at), times))
}
