// The one way into the audit log, whatever store it is in.

import { chainEntries } from '../../audit/chain-entries.ts'
import { invariant } from '../../platform/errors.ts'
import type { AuditEntry, NewAuditEntry } from '../domain/audit-entry.ts'
import type { StoreWriter } from '../store/store.ts'

export async function appendEntry(writer: StoreWriter, entry: NewAuditEntry): Promise<AuditEntry> {
  const [appended] = await appendEntries(writer, [entry])
  invariant(appended !== undefined, 'each entry is appended')
  return appended
}

/**
 * Appends the entries one after the other, all of one instant. Also permanently ends the tokens that have expired by then:
 * a clock that somebody sets back cannot revive them. docs/protocol.md TOK-4.
 */
export async function appendEntries(
  writer: StoreWriter,
  entries: readonly NewAuditEntry[],
): Promise<readonly AuditEntry[]> {
  const last = entries.at(-1)
  if (last === undefined) return []
  const chained = chainEntries(await writer.findChainEnd(), entries)
  await writer.insertEntries(chained)
  await writer.endExpiredTokens(last.at)
  return chained
}
