// Certificates whose renewal is overdue: the hub records each once in the audit log, from which webhooks get it, and logs a
// line.

import type { Clock } from '../../../platform/clock.ts'
import { describeError } from '../../../platform/errors.ts'
import type { Logger } from '../../../platform/logger.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { CertificateInUse } from '../../domain/fleet.ts'
import { lateFrom } from '../../domain/late-renewal.ts'
import type { LateRule, Store, StoreReader } from '../../store/store.ts'
import { recordHubAct } from '../hub-acts.ts'

export interface LateRenewalsDependencies {
  readonly store: Store
  readonly clock: Clock
  /** What the agents have as theirs. */
  readonly thresholdMs: number
}

export interface LateCertificate extends CertificateInUse {
  readonly lateSince: Date
}

/** After an outage all of a fleet can be late at once. */
const COMMIT_MAX = 500
const LOGGED_MAX = 20
/** Of the last entries, for the hub's own. */
const LOOKED_AT_MAX = 1000
const WATCH_INTERVAL_MS = 30_000

/**
 * The certificates that became late after `since` and not after `until`, and still are, in that order. Windows that
 * follow one another name each certificate once; a caller that keeps `until` durably misses none across a restart.
 */
export async function listNewlyLate(
  { store, thresholdMs }: LateRenewalsDependencies,
  { since, until }: { readonly since: Date; readonly until: Date },
): Promise<LateCertificate[]> {
  const rule: LateRule = { now: until, thresholdMs }
  // All that there are in use at the most.
  const limit = Number.MAX_SAFE_INTEGER
  const late = await store.reader.listLateCertificates({ ...rule, since, limit })
  return late
    .map((certificate) => ({ ...certificate, lateSince: lateFrom(certificate, thresholdMs) }))
    .toSorted((one, other) => one.lateSince.getTime() - other.lateSince.getTime())
}

/** Records each when it becomes late, and names it in the log, until the signal aborts. docs/protocol.md MET-13. */
export async function watchLateRenewals(
  dependencies: LateRenewalsDependencies,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock } = dependencies
  let since: Date | undefined
  while (!signal.aborted) {
    await clock.sleep(WATCH_INTERVAL_MS, signal).catch(() => undefined)
    if (signal.aborted) return
    const until = clock.now()
    try {
      since ??= earlierOf(await readLastWindow(store.reader), until)
      const late = await listNewlyLate(dependencies, { since, until })
      for (const part of partsOf(late, until)) {
        await recordLate(store, part, clock.now())
        since = part.until
      }
      // Also when the clock was set back: what becomes late from now on is told of, even if it was once before.
      since = until
      for (const one of late.slice(0, LOGGED_MAX)) log.warn(fieldsOf(one), 'Certificate is late')
      if (late.length > LOGGED_MAX) log.warn({ count: late.length }, 'Certificates are late')
    } catch (error) {
      log.warn({ reason: describeError(error) }, 'Search for late certificates failed')
    }
  }
}

/**
 * The audit log itself says up to when the hub recorded late certificates, so a killed hub names none twice and misses none.
 * Agents may send events of this type too, which do not count; a flood of them makes the hub name late certificates again.
 */
async function readLastWindow(reader: StoreReader): Promise<Date> {
  const { certificateLate: eventType } = HubEventType
  const entries = await reader.listLastEntries({ eventType }, LOOKED_AT_MAX)
  const last = entries.findLast(({ agentId }) => agentId === null)
  // What was recorded earlier is archived, and whatever was late then was recorded then.
  if (last === undefined) return new Date((await reader.findLastSegment())?.lastTimestamp ?? 0)
  const { until } = JSON.parse(last.payloadText) as { readonly until: string }
  return new Date(until)
}

/** A window that ends in the future was opened before the clock was set back. */
function earlierOf(one: Date, other: Date): Date {
  return one < other ? one : other
}

interface Part {
  readonly late: readonly LateCertificate[]
  readonly until: Date
}

/** Each is a window of its own: no window ends between two certificates that became late in the same instant. */
function* partsOf(late: readonly LateCertificate[], until: Date): Generator<Part> {
  let part: LateCertificate[] = []
  for (const [index, certificate] of late.entries()) {
    part.push(certificate)
    const next = late[index + 1]
    if (next === undefined) {
      yield { late: part, until }
    } else if (part.length >= COMMIT_MAX && next.lateSince > certificate.lateSince) {
      yield { late: part, until: certificate.lateSince }
      part = []
    }
  }
}

function recordLate(store: Store, { late, until }: Part, at: Date): Promise<void> {
  return store.write(async (writer) => {
    for (const certificate of late) {
      await recordHubAct(writer, at, HubEventType.certificateLate, {
        actor: 'hub',
        agente_id: certificate.agentId,
        hostname: certificate.hostname,
        purpose: certificate.purpose,
        nome: certificate.name,
        not_after: certificate.notAfter.toISOString(),
        late_since: certificate.lateSince.toISOString(),
        until: until.toISOString(),
      })
    }
  })
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
