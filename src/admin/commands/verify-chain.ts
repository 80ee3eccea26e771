import { ChainVerifier, type ChainFault } from '../../audit/hash-chain.ts'
import { UserError } from '../../platform/errors.ts'
import type { AdminOperations } from '../../protocol/admin/operations.ts'
import type { AdminEntry } from '../../protocol/admin/views.ts'
import type { Progress } from '../terminal/progress.ts'
import { readEntryPages } from './read-entries.ts'

export interface ChainVerification {
  readonly ok: boolean
  /** Entries in the log. */
  readonly count: number
  /** The hash of the last good entry. */
  readonly head: string
  readonly first_bad: ChainFault | null
}

/** Checks the whole log, in constant memory. */
export async function verifyChain(
  operations: AdminOperations,
  progress: Progress,
): Promise<ChainVerification> {
  const verifier = new ChainVerifier()
  for await (const page of readEntryPages(operations, {})) {
    addEntries(verifier, page)
    progress.show(describeProgress(verifier))
  }
  progress.clear()
  return conclude(verifier)
}

export function describeProgress({ count }: ChainVerifier): string {
  return `verifying the hash chain: ${count} entries`
}

export function addEntries(verifier: ChainVerifier, entries: readonly AdminEntry[]): void {
  for (const entry of entries) {
    verifier.add({
      seq: entry.seq,
      payloadText: entry.payload_text,
      timestamp: entry.timestamp,
      previousHash: entry.hash_anterior,
      hash: entry.hash_atual,
    })
  }
}

export function conclude(verifier: ChainVerifier): ChainVerification {
  const { fault, count, head } = verifier
  return { ok: fault === undefined, count, head, first_bad: fault ?? null }
}

export function describeVerification({ ok, count, head, first_bad }: ChainVerification): string {
  if (ok) return `hash chain ok: ${count} entries, head ${head}`
  return `hash chain broken at entry ${first_bad?.seq}: ${first_bad?.reason}`
}

/** Call it when everything is printed. */
export function failIfBroken(verification: ChainVerification): void {
  if (verification.ok) return
  throw new UserError('chain_broken', describeVerification(verification), {
    hint: 'nothing from that entry on can be trusted; compare with a backup',
  })
}
