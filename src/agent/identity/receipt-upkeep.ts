// Has the hub sign a receipt of each identity, and shows it to a hub that does not know the identity. docs/protocol.md BKP-14,
// BKP-18.

import type { Logger } from '../../platform/logger.ts'
import { attemptSpaced, type RetrySchedule, UNKNOWN_ROUTE_AGAIN_MS } from '../hub/backoff.ts'
import type { HubBudget } from '../hub/budget.ts'
import { requireIdentity } from './identity.ts'
import type { AgentSession } from './session.ts'

export interface ReceiptContext {
  readonly session: AgentSession
  readonly retries: RetrySchedule
  readonly log: Logger
}

const RECEIPT = 'the receipt of the identity'
const SHOWING = 'showing the receipt'
/** What the attempts are called in the schedule. */
export const RECEIPT_RETRIES: readonly string[] = [RECEIPT, SHOWING]
const SHOWING_INTERVAL_MS = 60_000

/** Once for each identity, when the hub has let it in. */
export async function keepReceipt(
  { session, retries, log }: ReceiptContext,
  budget: HubBudget,
): Promise<void> {
  const { hub, paths, knownIdentity, receipt, clock } = session
  const { sha256 } = (await requireIdentity(paths.identityDir, knownIdentity)).leaf
  if (!budget.isOpen || (await receipt.find(sha256)) !== undefined) return
  if (!retries.isDue(RECEIPT, clock.now())) return
  const outcome = await hub.fetchReceipt()
  if (outcome.ok) {
    await receipt.keep(sha256, outcome.value)
    retries.clear(RECEIPT)
    return
  }
  const { status, code, retryAfterMs } = outcome
  // A hub up to 0.4.0 knows no receipts: nothing is wrong.
  log.debug({ status, code }, 'The hub gives no receipt of the identity')
  if (status === 404) retries.holdOff(RECEIPT, clock.now(), UNKNOWN_ROUTE_AGAIN_MS)
  else retries.recordFailure(RECEIPT, clock.now(), retryAfterMs)
}

/** True when the hub knows the identity again, and another round may succeed. */
export async function showReceipt(
  { session, retries, log }: ReceiptContext,
  budget: HubBudget,
): Promise<boolean> {
  const { hub, paths, knownIdentity, receipt, clock } = session
  if (!budget.hasRefusal('agent_not_registered')) return false
  const { sha256 } = (await requireIdentity(paths.identityDir, knownIdentity)).leaf
  const kept = await receipt.find(sha256)
  if (kept === undefined || !retries.isDue(SHOWING, clock.now())) return false
  const spacing = { clock, intervalMs: SHOWING_INTERVAL_MS }
  const outcome = await attemptSpaced(retries, SHOWING, spacing, () => hub.fetchReceipt(kept))
  if (!outcome.ok) {
    log.warn({ status: outcome.status, code: outcome.code }, 'The hub did not take the receipt')
    retries.recordFailure(SHOWING, clock.now(), outcome.retryAfterMs)
    return false
  }
  log.warn('The hub did not know the identity, and took it back by its receipt')
  retries.recordSuccess(SHOWING)
  await receipt.keep(sha256, outcome.value)
  return true
}
