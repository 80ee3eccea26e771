// Keeps the identity alive: renewed while it still opens the door, recovered when it does not any more. When it is time
// for either is for the hub's clock to say: it is asked first.

import { describeError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { attemptSpaced, type RetrySchedule } from '../hub/backoff.ts'
import { isRenewalDue } from './certificate-lifetime.ts'
import { describeRefusal } from '../hub/failures.ts'
import type { HubBudget } from '../hub/budget.ts'
import type { HubRefusal } from '../hub/request.ts'
import { decideRecovery } from './decide-recovery.ts'
import { type Identity, requireIdentity } from './identity.ts'
import { HubRefusedError } from './renew-identity.ts'
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

type Leaf = Identity['leaf']

/** Before the hub is asked for anything else. */
export async function keepIdentity(
  context: UpkeepContext,
  { leaf }: Identity,
  budget: HubBudget,
): Promise<void> {
  const { session, retries } = context
  const suspected = needOf(session, leaf)
  if (suspected === undefined) return
  const isDue = retries.isDue(suspected, session.clock.now())
  if (isDue && !(await learnHubTime(context, suspected))) return
  const need = needOf(session, leaf)
  if (need === RENEWAL) await attemptRenewal(context, budget)
  if (need !== RECOVERY) return
  if (await attemptRecovery(context, leaf, budget, 'expired by the hub’s clock and this host’s'))
    return
  // As long as the hub has said nothing, its other port may know better than our clock.
  if (session.hubTime.skewMs === undefined) return
  budget.close(`the identity expired at ${leaf.notAfter.toISOString()}`)
}

/** After the manifest, when the port that judges has said its time: renews what another clock made look new. */
export async function renewIfStillDue(
  context: UpkeepContext,
  { leaf }: Identity,
  budget: HubBudget,
): Promise<void> {
  const { session } = context
  if (needOf(session, leaf) !== RENEWAL) return
  // It may be another identity now.
  const current = await requireIdentity(session.paths.identityDir)
  if (needOf(session, current.leaf) === RENEWAL) await attemptRenewal(context, budget)
}

/** After a round without a manifest: was it the identity? True when there is a new one, and another round may succeed. */
export async function recoverIfHubSeesExpired(
  context: UpkeepContext,
  { leaf }: Identity,
  budget: HubBudget,
): Promise<boolean> {
  const { session, retries, log } = context
  const { hubTime, clock } = session
  if (!retries.isDue(RECOVERY, clock.now())) return false
  if (budget.isUnreachable) {
    // An expired certificate gets no answer on its port, and with it no time.
    await askHubTime(session).catch(() => log.debug('The enroll port does not answer either'))
  }
  const reason = decideRecovery({
    notBefore: leaf.notBefore,
    notAfter: leaf.notAfter,
    hubNow: hubTime.skewMs === undefined ? undefined : hubTime.now(),
    hubSaidExpired: budget.hasRefusal('certificate_expired'),
    isHandshakeFailing: budget.isUnreachable,
  })
  return reason !== undefined && attemptRecovery(context, leaf, budget, reason)
}

/**
 * By what is known of the hub's time, which is our own as long as nothing is. Where only one of the two clocks says that
 * the identity has expired, it is the door that says who is right.
 */
function needOf(
  { config, clock, hubTime, newCertificates }: AgentSession,
  leaf: Leaf,
): typeof RENEWAL | typeof RECOVERY | undefined {
  const now = hubTime.now()
  if (leaf.notAfter <= now && leaf.notAfter <= clock.now()) return RECOVERY
  const isDue = isRenewalDue(leaf, now, config.renewalThresholdMs)
  return isDue && !newCertificates.isNew(leaf) ? RENEWAL : undefined
}

/**
 * What is known of the hub's time may be nothing but our own, or off by as much as our clock was set since. False when
 * nobody has said what it is: a renewal then waits for the other port, since a host need not reach this one any more.
 */
async function learnHubTime(
  { session, retries, log }: UpkeepContext,
  suspected: typeof RENEWAL | typeof RECOVERY,
): Promise<boolean> {
  try {
    await askHubTime(session)
    return true
  } catch (error) {
    if (suspected === RECOVERY) {
      retries.recordFailure(RECOVERY, session.clock.now(), ATTEMPT_INTERVAL_MS)
      throw error
    }
    log.debug({ error: describeError(error) }, 'The enroll port does not say what time it is')
    return session.hubTime.skewMs !== undefined
  }
}

async function attemptRenewal(context: UpkeepContext, budget: HubBudget): Promise<void> {
  const { session, retries, log } = context
  if (!budget.isOpen || !retries.isDue(RENEWAL, session.clock.now())) return
  const refusal = await attempt(context, RENEWAL, () => rotateIdentity(session, 'auto_threshold'))
  if (refusal === undefined) return
  log.warn({ status: refusal.status, code: refusal.code }, 'Renewal refused')
  budget.noteRefusal(refusal)
}

async function attemptRecovery(
  context: UpkeepContext,
  leaf: Leaf,
  budget: HubBudget,
  reason: string,
): Promise<boolean> {
  const { session, retries, log } = context
  if (!retries.isDue(RECOVERY, session.clock.now())) return false
  const fields = { serial: leaf.serial, not_after: leaf.notAfter.toISOString(), reason }
  log.warn(fields, 'Identity expired, recovering it')
  const refusal = await attempt(context, RECOVERY, () => recoverAndTakeUp(session))
  if (refusal === undefined) return true
  log.warn({ status: refusal.status, code: refusal.code }, 'Recovery refused')
  budget.noteProblem(describeRefusal(refusal))
  return false
}

/** What the hub said when it did not want to; throws what else went wrong. Either is tried again. */
async function attempt(
  { session: { clock }, retries }: UpkeepContext,
  name: string,
  work: () => Promise<unknown>,
): Promise<HubRefusal | undefined> {
  try {
    await attemptSpaced(retries, name, { clock, intervalMs: ATTEMPT_INTERVAL_MS }, work)
    retries.recordSuccess(name)
    return undefined
  } catch (error) {
    const refusal = error instanceof HubRefusedError ? error.refusal : undefined
    retries.recordFailure(name, clock.now(), refusal?.retryAfterMs ?? 0)
    if (refusal === undefined) throw error
    return refusal
  }
}
