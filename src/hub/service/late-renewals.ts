// Certificates that should have been renewed by now: said once each in the log, and to whoever else asks.

import type { Clock } from '../../platform/clock.ts'
import { describeError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import type { CertificateInUse } from '../domain/fleet.ts'
import { lateFrom } from '../domain/late-renewal.ts'
import type { LateRule, Store } from '../store/store.ts'

export interface LateRenewalsDependencies {
  readonly store: Store
  readonly clock: Clock
  /** What the agents have as theirs. */
  readonly thresholdMs: number
}

export interface LateCertificate extends CertificateInUse {
  readonly lateSince: Date
}

/** After an outage all of a fleet can be late at once; the rest is in the metrics. */
const LISTED_MAX = 1000
const LOGGED_MAX = 20
const WATCH_INTERVAL_MS = 30_000

/**
 * Those that became late after `since` and not after `until`, and still are. Windows that follow one another name each
 * certificate once; whoever keeps `until` durably misses none across a restart.
 */
export async function listNewlyLate(
  { store, thresholdMs }: LateRenewalsDependencies,
  { since, until }: { readonly since: Date; readonly until: Date },
): Promise<LateCertificate[]> {
  const rule: LateRule = { now: until, thresholdMs }
  const late = await store.reader.listLateCertificates({ ...rule, since, limit: LISTED_MAX })
  return late.map((certificate) => ({
    ...certificate,
    lateSince: lateFrom(certificate, thresholdMs),
  }))
}

/** Names each in the log when it becomes late, until the signal aborts. */
export async function watchLateRenewals(
  dependencies: LateRenewalsDependencies,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = dependencies
  let since = clock.now()
  while (!signal.aborted) {
    await clock.sleep(WATCH_INTERVAL_MS, signal).catch(() => undefined)
    if (signal.aborted) return
    const until = clock.now()
    try {
      const late = await listNewlyLate(dependencies, { since, until })
      since = until
      for (const one of late.slice(0, LOGGED_MAX)) log.warn(fieldsOf(one), 'Certificate is late')
      if (late.length > LOGGED_MAX) log.warn({ count: late.length }, 'Certificates are late')
    } catch (error) {
      log.warn({ reason: describeError(error) }, 'Late certificates not looked for')
    }
  }
}

function fieldsOf(certificate: LateCertificate): object {
  return {
    agent_id: certificate.agentId,
    hostname: certificate.hostname,
    purpose: certificate.purpose,
    artefact: certificate.name,
    not_after: certificate.notAfter.toISOString(),
  }
}
