// How many hosts lose a certificate in a time to come, also of those that have lost one before: each of these is looked at, so others
// have a turn in between.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { StoreReader } from '../../../store/store.ts'
import type { LostHosts } from '../../../store/summary-store.ts'

/** Some three milliseconds. */
const SLICE_HOSTS = 1000

/** Of each end: how many hosts have a certificate that ends after the first instant, and not after this end. */
export async function countLosing(
  { summary }: Pick<StoreReader, 'summary'>,
  after: Date,
  ends: readonly Date[],
): Promise<number[]> {
  const lost = await summary.countAgentsEnding(after)
  const counts: number[] = []
  for (const end of ends) {
    counts.push(end <= after ? 0 : (await summary.countAgentsEnding(end)) - lost)
  }
  let place: LostHosts['last'] | undefined
  while (place !== null) {
    const slice: LostHosts = await summary.listLost(after, { after: place, limit: SLICE_HOSTS })
    for (const [at, end] of ends.entries()) {
      const endMs = end.getTime()
      counts[at] =
        (counts[at] ?? 0) + slice.nextEndsMs.filter((next) => next !== null && next <= endMs).length
    }
    place = slice.last
    if (place !== null) await nextTurn()
  }
  return counts
}
