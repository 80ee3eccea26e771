// What the audit log does not say yet of what the CA signed: the hub ended before, or the disk was full. docs/protocol.md EVD-15, EVD-16.

import { describeError, SvcError } from '../../../platform/errors.ts'
import { type SigningDependencies, settleLeftOpen } from '../obtain-certificate.ts'
import { recordStandingCertificate, type StandingCertificate } from '../own-certificates.ts'

type Dependencies = Pick<SigningDependencies, 'store' | 'clock' | 'log'>

const INTERVAL_MS = 60_000
/** The CA has ten seconds (CAX-5), and the commit after it has all the rest. */
const UNDER_WAY_MS_MAX = 5 * 60_000

/**
 * Before anything is asked of the CA for agents. On a full disk the hub serves them all the same: the watch settles what was left open, and the next
 * start records the certificate.
 */
export async function recordLeftBefore(
  { store, clock, log }: Dependencies,
  standing: StandingCertificate,
  names: readonly string[],
): Promise<void> {
  try {
    await settleLeftOpen({ store, clock })
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
  while (!signal.aborted) {
    await clock.sleep(INTERVAL_MS, signal).catch(() => undefined)
    if (signal.aborted) return
    try {
      const askedUntil = new Date(clock.now().getTime() - UNDER_WAY_MS_MAX)
      await settleLeftOpen({ store, clock }, askedUntil)
    } catch (error) {
      warn(log, error)
    }
  }
}

function warn(log: Dependencies['log'], error: unknown): void {
  log.warn({ reason: describeError(error) }, 'Lost answers of the CA not recorded')
}
