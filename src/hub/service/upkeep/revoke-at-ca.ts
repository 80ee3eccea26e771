// What is revoked here is revoked at the CA as well, in the background and one call at a time, so that issuing is not held
// up. What is left to do is what the store says: a hub that dies at any instant goes on with it at its next start.

import type { Clock } from '../../../platform/clock.ts'
import type { Logger } from '../../../platform/logger.ts'
import { createWakeablePause } from '../../../platform/wakeable-pause.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { CertificateAuthority, RevocationOutcome } from '../../ca/certificate-authority.ts'
import type { CaRevocation } from '../../domain/ca-revocation.ts'
import type { Store } from '../../store/store.ts'
import { recordHubAct } from '../hub-acts.ts'

export interface CaRevoker {
  /** There may be something to do. */
  wake(): void
  /** Works until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
}

export interface CaRevokerDependencies {
  readonly store: Store
  readonly authority: Pick<CertificateAuthority, 'revoke'>
  readonly clock: Clock
  readonly log: Logger
  /** From 0 to 1. */
  readonly random: () => number
}

const PAGE_ROWS = 50
const RETRY_DELAY_MS = 1000
const RETRY_DELAY_MS_MAX = 10 * 60_000
/** Nothing but a clock that was set back makes work without waking us. */
const IDLE_MS = 10 * 60_000
/** The hub asks a failing CA at most this often, however many agents operators revoke meanwhile. */
const SPACING_MS_MIN = 1000

export function createCaRevoker(dependencies: CaRevokerDependencies): CaRevoker {
  const { clock, log, random } = dependencies
  const { wake, pause } = createWakeablePause(clock)

  return {
    wake,
    run: async (signal) => {
      const work = createWork(dependencies)
      for (let failures = 0; !signal.aborted;) {
        const { failure, done } = await work(signal)
        if (signal.aborted) return
        if (failure === undefined) {
          failures = 0
          await pause(IDLE_MS, signal)
          continue
        }
        failures = done === 0 ? failures + 1 : 1
        const delayMs = retryDelayMs(failures, random)
        log.warn({ reason: failure, retry_in_ms: delayMs }, 'Certificates not revoked at the CA')
        await clock.sleep(Math.min(delayMs, SPACING_MS_MIN), signal).catch(() => undefined)
        await pause(delayMs - SPACING_MS_MIN, signal)
      }
    },
  }
}

/** Between half and all of a delay that doubles up to ten minutes. */
function retryDelayMs(failures: number, random: () => number): number {
  const fullMs = Math.min(RETRY_DELAY_MS_MAX, RETRY_DELAY_MS * 2 ** Math.min(failures, 20))
  return Math.round(fullMs * (0.5 + random() / 2))
}

interface Progress {
  /** How many the CA has revoked or refused. */
  readonly done: number
  /** Why it ended before everything was done. */
  readonly failure: string | undefined
}

/**
 * Works through all that waits, up to the first failure. The next time goes on behind the certificate that failed, so that
 * one which the CA never manages holds up no other.
 */
function createWork(
  dependencies: CaRevokerDependencies,
): (signal: AbortSignal) => Promise<Progress> {
  const { store, clock, log } = dependencies
  let after: string | undefined
  const nextPage = async (): Promise<readonly CaRevocation[]> => {
    const page = { now: clock.now(), after, limit: PAGE_ROWS, isRefusedIncluded: false }
    return (await store.reader.listCaRevocations(page)) ?? []
  }
  const workThrough = async (
    signal: AbortSignal,
    onDone: () => void,
  ): Promise<string | undefined> => {
    for (;;) {
      const revocations = await nextPage()
      if (revocations.length === 0 && after === undefined) return undefined
      if (revocations.length === 0) after = undefined
      for (const revocation of revocations) {
        after = revocation.sha256
        const failure = await revokeOne(dependencies, revocation, signal)
        if (failure !== undefined) return failure
        onDone()
      }
    }
  }
  return async (signal) => {
    let done = 0
    try {
      return { failure: await workThrough(signal, () => (done += 1)), done }
    } catch (error) {
      // The store failed, or there is a bug: neither what waits nor this task is lost.
      if (!signal.aborted) log.error({ err: error }, 'Revoking at the CA failed')
      return { failure: 'internal error', done }
    }
  }
}

/** Why it failed, if it did. */
async function revokeOne(
  dependencies: CaRevokerDependencies,
  revocation: CaRevocation,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { store, authority, clock } = dependencies
  const isDelivered = revocation.purpose === 'delivery'
  const outcome = await authority.revoke(revocation.serial, signal, isDelivered)
  if (outcome.kind !== 'failed') {
    await record(dependencies, revocation, outcome)
    return undefined
  }
  await store.write((writer) => writer.setCaFailing(clock.now(), outcome.reason))
  return outcome.reason
}

type Answer = Exclude<RevocationOutcome, { readonly kind: 'failed' }>

/** In one commit what the CA said, and its log entry. */
async function record(
  { store, clock, log }: CaRevokerDependencies,
  revocation: CaRevocation,
  answer: Answer,
): Promise<void> {
  const { sha256, serial, hostname, agentId, notAfter } = revocation
  const certificate = { agente_id: agentId, hostname, serial, sha256 }
  await store.write(async (writer) => {
    const now = clock.now()
    const payload = { actor: 'hub', ...certificate, not_after: notAfter.toISOString() }
    if (answer.kind === 'refused') {
      if (!(await writer.setCaRefused(sha256, now, answer.reason))) return
      const refused = { ...payload, reason: answer.reason }
      await recordHubAct(writer, now, HubEventType.certificateNotRevokedAtCa, refused)
      return
    }
    if (!(await writer.setCaRevoked(sha256, now))) return
    await recordHubAct(writer, now, HubEventType.certificateRevokedAtCa, payload)
  })
  if (answer.kind === 'refused') {
    log.warn({ hostname, serial, reason: answer.reason }, 'The CA refused to revoke a certificate')
  } else log.info({ hostname, serial }, 'Certificate revoked at the CA')
}
