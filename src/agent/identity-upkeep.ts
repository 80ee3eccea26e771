// Keeps the identity alive: renewed while it still opens the door, recovered when it does not any more.

import type { Logger } from '../platform/logger.ts'
import type { RetrySchedule } from './backoff.ts'
import { isRenewalDue } from './certificate-lifetime.ts'
import { describeRefusal } from './failures.ts'
import type { HubBudget } from './hub-budget.ts'
import { decideRecovery } from './identity/decide-recovery.ts'
import type { Identity } from './identity/identity.ts'
import { HubRefusedError } from './identity/renew-identity.ts'
import { type AgentSession, askHubTime, recoverAndTakeUp, rotateIdentity } from './session.ts'

export interface UpkeepContext {
  readonly session: AgentSession
  readonly retries: RetrySchedule
  readonly log: Logger
}

const RENEWAL = 'renewal of the identity'
const RECOVERY = 'recovery of the identity'
/** What the attempts are called in the schedule; neither kind holds up the other. */
export const UPKEEP_RETRIES: readonly string[] = [RENEWAL, RECOVERY]
const ATTEMPT_INTERVAL_MS = 60_000

/** Before the hub is asked for anything else. */
export async function keepIdentity(
  context: UpkeepContext,
  { leaf }: Identity,
  budget: HubBudget,
): Promise<void> {
  const { session } = context
  if (leaf.notAfter > session.clock.now()) {
    await renewIfDue(context, leaf, budget)
    return
  }
  if (await attemptRecovery(context, leaf, budget, 'expired by our clock')) return
  const { hubTime } = session
  if (hubTime.skewMs !== undefined && leaf.notAfter > hubTime.now()) {
    // It is our clock that is wrong: the hub takes the identity as it is.
    await renewIfDue(context, leaf, budget)
  } else {
    budget.close(`the identity expired at ${leaf.notAfter.toISOString()}`)
  }
}

/** After a round without a manifest: was it the identity? True when there is a new one, and another round may succeed. */
export async function recoverIfHubSeesExpired(
  context: UpkeepContext,
  { leaf }: Identity,
  budget: HubBudget,
): Promise<boolean> {
  const { session, log } = context
  const { hubTime, clock } = session
  if (leaf.notAfter <= clock.now()) return false
  if (budget.isUnreachable) {
    // An expired certificate gets no answer on its port, and with it no time.
    await askHubTime(session).catch(() => log.debug('The enroll port does not answer either'))
  }
  const reason = decideRecovery({
    notAfter: leaf.notAfter,
    now: clock.now(),
    hubNow: hubTime.skewMs === undefined ? undefined : hubTime.now(),
    hubSaidExpired: budget.hasRefusal('certificate_expired'),
    isHandshakeFailing: budget.isUnreachable,
  })
  return reason !== undefined && attemptRecovery(context, leaf, budget, reason)
}

async function renewIfDue(
  { session, retries, log }: UpkeepContext,
  leaf: Identity['leaf'],
  budget: HubBudget,
): Promise<void> {
  const now = session.clock.now()
  if (!isRenewalDue(leaf, now, session.config.renewalThresholdMs)) return
  if (!retries.isDue(RENEWAL, now)) return
  retries.holdOff(RENEWAL, now, ATTEMPT_INTERVAL_MS)
  try {
    await rotateIdentity(session, 'auto_threshold')
    retries.recordSuccess(RENEWAL)
  } catch (error) {
    const refusal = error instanceof HubRefusedError ? error.refusal : undefined
    retries.recordFailure(RENEWAL, now, Math.max(ATTEMPT_INTERVAL_MS, refusal?.retryAfterMs ?? 0))
    if (refusal === undefined) throw error
    log.warn({ status: refusal.status, code: refusal.code }, 'Renewal refused')
    budget.noteRefusal(refusal)
  }
}

async function attemptRecovery(
  { session, retries, log }: UpkeepContext,
  leaf: Identity['leaf'],
  budget: HubBudget,
  reason: string,
): Promise<boolean> {
  const now = session.clock.now()
  if (!retries.isDue(RECOVERY, now)) return false
  const fields = { serial: leaf.serial, not_after: leaf.notAfter.toISOString(), reason }
  log.warn(fields, 'Identity expired, recovering it')
  retries.holdOff(RECOVERY, now, ATTEMPT_INTERVAL_MS)
  try {
    await recoverAndTakeUp(session)
    retries.recordSuccess(RECOVERY)
    return true
  } catch (error) {
    const refusal = error instanceof HubRefusedError ? error.refusal : undefined
    retries.recordFailure(RECOVERY, now, Math.max(ATTEMPT_INTERVAL_MS, refusal?.retryAfterMs ?? 0))
    if (refusal === undefined) throw error
    log.warn({ status: refusal.status, code: refusal.code }, 'Recovery refused')
    budget.noteProblem(describeRefusal(refusal))
    return false
  }
}
