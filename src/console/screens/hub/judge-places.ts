// Whether the places where the hub keeps its checkpoint have one of the whole log. docs/protocol.md DOC-25.

import type { CheckpointFacts } from '../../../protocol/admin/examination.ts'

/**
 * `behind`: no checkpoint there covers the whole log, and has not for longer than a hub takes to sign. `unknown`: none has since the hub
 * started, which is not long ago.
 */
export type PlaceState = 'whole' | 'behind' | 'none' | 'unknown'

/** As the alert has it: a hub signs within a second or two. */
const STALE_MS = 5 * 60_000

/** `now` is when the hub said it. */
export function judgePlaces(
  {
    vault_at: vault,
    outside_at: outside,
    is_kept_outside: isOutside,
    up_seconds: up,
  }: CheckpointFacts,
  now: string,
): { readonly vault: PlaceState; readonly outside: PlaceState } {
  const judge = (at: string | null): PlaceState => {
    const ageMs = at === null ? up * 1000 : Date.parse(now) - Date.parse(at)
    if (ageMs > STALE_MS) return 'behind'
    return at === null ? 'unknown' : 'whole'
  }
  return { vault: judge(vault), outside: isOutside ? judge(outside) : 'none' }
}
