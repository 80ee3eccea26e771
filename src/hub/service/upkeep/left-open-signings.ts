// Requests to the CA whose outcome could not be written, because the disk was full: the audit log says later that the answer is lost.
// docs/protocol.md EVD-16.

import { describeError } from '../../../platform/errors.ts'
import { type SigningDependencies, settleLeftOpen } from '../obtain-certificate.ts'

const INTERVAL_MS = 60_000
/** The CA has ten seconds (CAX-5), and the commit after it has all the rest. */
const UNDER_WAY_MS_MAX = 5 * 60_000

export async function watchLeftOpen(
  { store, clock, log }: Pick<SigningDependencies, 'store' | 'clock' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(INTERVAL_MS, signal).catch(() => undefined)
    if (signal.aborted) return
    try {
      const askedUntil = new Date(clock.now().getTime() - UNDER_WAY_MS_MAX)
      await settleLeftOpen({ store, clock }, askedUntil)
    } catch (error) {
      log.warn({ reason: describeError(error) }, 'Lost answers of the CA not recorded')
    }
  }
}
