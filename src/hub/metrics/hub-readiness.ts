// Whether the hub can do its work, subsystem by subsystem, each with a reason. Nothing here asks the CA: a probe that is
// called every few seconds must not be what keeps it busy.

import { hashEntry, GENESIS_HASH } from '../../audit/hash-chain.ts'
import { formatDurationMs } from '../../platform/durations.ts'
import { describeError } from '../../platform/errors.ts'
import type { Readiness, Subsystem } from '../../platform/metrics-server.ts'
import type { AuditEntry } from '../domain/audit-entry.ts'
import type { StoreReader } from '../store/store.ts'
import type { LastCaCall } from './ca-calls.ts'

export interface ReadinessFacts {
  readonly now: Date
  /** The last entries, oldest first, or why they cannot be read. */
  readonly lastEntries: readonly AuditEntry[] | Error
  /** Or why it is unknown. */
  readonly freeBytes: number | Error
  readonly floorBytes: number
  readonly lastCaCall: LastCaCall | undefined
  /** Undefined while the hub waits for its first certificate. */
  readonly serverNotAfter: Date | undefined
}

/** What failed that long ago says nothing of now. */
const CA_FAILURE_COUNTS_MS = 15 * 60_000

export function decideReadiness(facts: ReadinessFacts): Readiness {
  return {
    store: judgeStore(facts),
    ca: judgeCa(facts),
    certificate: judgeCertificate(facts),
    audit: judgeAudit(facts),
  }
}

/** The last two entries: enough to see that the log can be read, and goes on where it was. */
export async function readLastEntries(
  reader: StoreReader,
  requireCurrent?: () => void,
): Promise<AuditEntry[] | Error> {
  try {
    requireCurrent?.()
    return await reader.listLastEntries({}, 2)
  } catch (error) {
    return error instanceof Error ? error : new Error(describeError(error))
  }
}

function judgeStore({ lastEntries, freeBytes, floorBytes }: ReadinessFacts): Subsystem {
  if (lastEntries instanceof Error) {
    return notReady(`the database cannot be read: ${describeError(lastEntries)}`)
  }
  if (freeBytes instanceof Error) {
    return notReady(`the free space cannot be measured: ${describeError(freeBytes)}`)
  }
  if (freeBytes >= floorBytes) return ready('the database can be read, and there is space')
  return notReady(`${freeBytes} bytes are free, and events are refused below ${floorBytes}`)
}

/** A refusal is the CA's answer to one request, which its sender can provoke, unless it speaks of the hub's own settings. */
function judgeCa({ lastCaCall, now }: ReadinessFacts): Subsystem {
  if (lastCaCall === undefined) return ready('not called since the start')
  const { outcome, at, variable, failingSince } = lastCaCall
  const ageMs = Math.max(0, now.getTime() - at.getTime())
  const age = formatDurationMs(Math.floor(ageMs / 1000) * 1000)
  if (outcome === 'ok') return ready(`signed ${age} ago`)
  const advice = variable === undefined ? '' : `; ${variable} may be wrong`
  const reason = `the last call, ${age} ago, ended as ${outcome}${advice}`
  const isProvoked = outcome === 'refused' && variable === undefined
  const counts = !isProvoked && ageMs <= CA_FAILURE_COUNTS_MS
  if (!counts) return ready(reason)
  return { ...notReady(reason), ...(failingSince && { since: failingSince }) }
}

function judgeCertificate({ serverNotAfter, now }: ReadinessFacts): Subsystem {
  if (serverNotAfter === undefined) return notReady('the hub waits for its first certificate')
  const until = serverNotAfter.toISOString()
  return serverNotAfter > now
    ? ready(`the hub’s own certificate is good until ${until}`)
    : notReady(`the hub’s own certificate expired at ${until}`)
}

function judgeAudit({ lastEntries }: ReadinessFacts): Subsystem {
  if (lastEntries instanceof Error) return notReady('the audit log cannot be read')
  const last = lastEntries.at(-1)
  if (last === undefined) return ready('the audit log is empty')
  const before = lastEntries.at(-2)?.hash ?? (last.seq === 1 ? GENESIS_HASH : last.previousHash)
  const isWhole =
    last.previousHash === before &&
    hashEntry(last.previousHash, last.payloadText, last.timestamp) === last.hash
  return isWhole
    ? ready(`entry ${last.seq} follows the one before it`)
    : notReady(`entry ${last.seq} does not follow the one before it; svc unseal checks all of them`)
}

function ready(reason: string): Subsystem {
  return { isReady: true, reason }
}

function notReady(reason: string): Subsystem {
  return { isReady: false, reason }
}
