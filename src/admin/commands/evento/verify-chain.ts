import { parseChainLine } from '../../../audit/chain-line.ts'
import { type ChainedEntry, ChainVerifier, type ChainFault } from '../../../audit/hash-chain.ts'
import { SvcError, UserError } from '../../../platform/errors.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { AdminEntry } from '../../../protocol/admin/views.ts'
import type { Progress } from '../../terminal/progress.ts'
import { readAhead } from '../read-ahead.ts'
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
export function verifyChain(
  operations: AdminOperations,
  progress: Progress,
): Promise<ChainVerification> {
  return verify(readChainPages(operations), progress, (entry) => entry)
}

/** Enough that a request for them costs little. */
const CHAIN_PAGE_ENTRIES = 5000

/** A hub up to 0.4.0 knows whole entries only. docs/protocol.md API-30. */
async function* readChainPages(
  operations: AdminOperations,
): AsyncGenerator<readonly ChainedEntry[]> {
  const ask = (after: number) => operations.listChain({ after, limit: CHAIN_PAGE_ENTRIES })
  let first
  try {
    first = await ask(0)
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'route_not_found') throw error
    for await (const entries of readEntryPages(operations, {})) yield entries.map(toChained)
    return
  }
  const pages = readAhead(first, ({ next }) => (next === null ? undefined : ask(next)))
  for await (const { eventos } of pages) yield eventos.map(parseChainLine)
}

/** The same of a whole log that is read anyway: each page is printed when it is checked. */
export function verifyPages(
  pages: AsyncIterable<readonly AdminEntry[]>,
  progress: Progress | undefined,
  print: (entries: readonly AdminEntry[]) => Promise<void>,
): Promise<ChainVerification> {
  return verify(pages, progress, toChained, print)
}

async function verify<Entry>(
  pages: AsyncIterable<readonly Entry[]>,
  progress: Progress | undefined,
  chainedOf: (entry: Entry) => ChainedEntry,
  print?: (entries: readonly Entry[]) => Promise<void>,
): Promise<ChainVerification> {
  const verifier = new ChainVerifier()
  for await (const page of pages) {
    for (const entry of page) verifier.add(chainedOf(entry))
    await print?.(page)
    progress?.show(`verifying the hash chain: ${verifier.count} entries`)
  }
  progress?.clear()
  const { fault, count, head } = verifier
  return { ok: fault === undefined, count, head, first_bad: fault ?? null }
}

type ChainFields = Pick<
  AdminEntry,
  'seq' | 'payload_text' | 'timestamp' | 'hash_anterior' | 'hash_atual'
>

export function toChained(entry: ChainFields): ChainedEntry {
  const { seq, payload_text: payloadText, timestamp, hash_anterior, hash_atual } = entry
  return { seq, payloadText, timestamp, previousHash: hash_anterior, hash: hash_atual }
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
