import type { AuditEntry } from './audit-entry.ts'

interface Head {
  readonly seq: number
  readonly hash: string
}

export interface HeadFault {
  /** The first entry that is missing, or that is another one. */
  readonly seq: number
  readonly reason: string
}

/**
 * Whether a log still holds what its head saw. `atHead` is the entry with the head's number. The head may lag behind the
 * log, which is no fault.
 */
export function findHeadFault(
  head: Head | undefined,
  last: AuditEntry | undefined,
  atHead: AuditEntry | undefined,
): HeadFault | undefined {
  if (head === undefined) {
    if (last === undefined) return undefined
    return { seq: 1, reason: 'the authenticated head of the audit log is missing or damaged' }
  }
  if (head.seq === 0) return undefined
  const lastSeq = last?.seq ?? 0
  if (lastSeq < head.seq) {
    const reason = `the audit log ends at entry ${lastSeq}, and had ${head.seq} entries`
    return { seq: lastSeq + 1, reason }
  }
  if (atHead?.hash === head.hash) return undefined
  return {
    seq: head.seq,
    reason: `entry ${head.seq} of the audit log is not the one that was acknowledged`,
  }
}
