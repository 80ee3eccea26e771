// What the audit log does not say yet of what the CA signed: the hub ended before, or the disk was full. docs/protocol.md EVD-15, EVD-16.

import { describeError, SvcError } from '../../../platform/errors.ts'
import { type SigningDependencies, settleLeftOpen, settleLost } from '../obtain-certificate.ts'
import { recordStandingCertificate, type StandingCertificate } from '../own-certificates.ts'

type Dependencies = Pick<SigningDependencies, 'store' | 'clock' | 'log' | 'hubId'>

const INTERVAL_MS = 60_000
/**
 * The CA has ten seconds (CAX-5), and the commit after it has all the rest. In rounds, since a clock that is set, or a machine that
 * slept, would make what is under way look old.
 */
const ROUNDS_OPEN = 5
/** Of those that are looked at in one round; who is left has another turn. */
const LOOKED_AT_MAX = 10_000

/**
 * Before anything is asked of the CA for agents. On a full disk the hub serves them all the same: the watch settles what was left open, and the next
 * start records the certificate.
 */
export async function recordLeftBefore(
  { store, clock, log, hubId }: Dependencies,
  standing: StandingCertificate,
  names: readonly string[],
): Promise<void> {
  try {
    await settleLeftOpen({ store, clock, hubId })
    await recordStandingCertificate(store, clock.now(), standing, names)
  } catch (error) {
    if (!(error instanceof SvcError && error.code === 'store_unavailable')) throw error
    warn(log, error)
  }
}

export async function watchLeftOpen(
  { store, clock, log }: Dependencies,
  signal: AbortSignal,
): Promise<void> {
  let rounds: ReadonlyMap<string, number> = new Map()
  while (!signal.aborted) {
    await clock.sleep(INTERVAL_MS, signal).catch(() => undefined)
    if (signal.aborted) return
    try {
      const open = await store.reader.listOpenSignings(LOOKED_AT_MAX)
      const before = rounds
      rounds = new Map(open.map(({ id }) => [id, (before.get(id) ?? 0) + 1]))
      const left = open.filter(({ id }) => (before.get(id) ?? 0) >= ROUNDS_OPEN)
      await settleLost({ store, clock }, left)
    } catch (error) {
      warn(log, error)
    }
  }
}

function warn(log: Dependencies['log'], error: unknown): void {
  log.warn({ reason: describeError(error) }, 'Lost answers of the CA not recorded')
}
