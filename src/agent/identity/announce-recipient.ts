// The agent tells the hub which recipient to seal for when this host is to read a file: at the start, and once a day.

import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import { type RetrySchedule, UNKNOWN_ROUTE_AGAIN_MS } from '../hub/backoff.ts'
import type { HubBudget } from '../hub/budget.ts'
import type { HubClient } from '../hub/client.ts'
import { AgeKeyDamagedError, ensureRecipient } from './age-key.ts'

export interface RecipientContext {
  readonly ageKeyFile: string
  readonly hub: Pick<HubClient, 'sendRecipient'>
  readonly clock: Clock
  readonly retries: RetrySchedule
  readonly log: Logger
}

/** What it is called in the schedule. */
export const RECIPIENT_RETRIES = 'the recipient'
const AGAIN_MS = 86_400_000

/** Throws what went wrong on the host, or on the way; it is tried again. */
export async function announceRecipient(
  { ageKeyFile, hub, clock, retries, log }: RecipientContext,
  budget: HubBudget,
): Promise<void> {
  if (!budget.isOpen || !retries.isDue(RECIPIENT_RETRIES, clock.now())) return
  try {
    const recipient = await ensureRecipient(ageKeyFile, clock)
    const outcome = await hub.sendRecipient(recipient)
    if (outcome.ok) {
      budget.noteAnswer()
      settle(AGAIN_MS)
      if (outcome.value !== recipient) log.warn('The hub keeps another recipient than this host’s')
    } else if (outcome.code === 'route_not_found') {
      budget.noteAnswer()
      settle(UNKNOWN_ROUTE_AGAIN_MS)
      log.debug('The hub knows of no sealed files')
    } else {
      log.warn({ status: outcome.status, code: outcome.code }, 'Recipient refused')
      retries.recordFailure(RECIPIENT_RETRIES, clock.now(), outcome.retryAfterMs)
      budget.noteRefusal(outcome)
    }
  } catch (error) {
    // A damaged key costs the hub nothing: it is named in every round until it is mended.
    if (!(error instanceof AgeKeyDamagedError))
      retries.recordFailure(RECIPIENT_RETRIES, clock.now())
    throw error
  }

  function settle(againMs: number): void {
    retries.clear(RECIPIENT_RETRIES)
    retries.holdOff(RECIPIENT_RETRIES, clock.now(), againMs)
  }
}
