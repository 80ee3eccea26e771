// What an endpoint looks at next: entries of its types, and which of them it gets.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AuditEntry } from '../domain/audit-entry.ts'
import type { Webhook } from '../domain/webhook.ts'
import type { StoreReader } from '../store/store.ts'
import { chooseEntries } from './choose-entries.ts'
import type { Delivery } from './delivery.ts'
import { readEntries } from './read-entries.ts'

export interface ChosenPage {
  readonly entries: readonly AuditEntry[]
  readonly chosen: ReadonlySet<AuditEntry>
}

/** One digest holds no more of payloads in memory, whatever agents send. */
const DIGEST_CHARACTERS_MAX = 4 * 1024 * 1024
/** So that an endpoint whose entries are few notes now and then how far it has looked. */
const DIGEST_PAGES_MAX = 100

/** Of an endpoint that gets one message for many entries, several pages: as many as go at once. */
export async function readChosen(
  reader: StoreReader,
  webhook: Webhook,
  afterSeq: number,
  { messagesMax, isDigest }: Pick<Delivery, 'messagesMax' | 'isDigest'>,
): Promise<ChosenPage> {
  const entries: AuditEntry[] = []
  const chosen = new Set<AuditEntry>()
  // A digest has many types, each a place in the index: small pages, so that no turn is long.
  const pageMax = isDigest ? 1 : messagesMax
  let characters = 0
  for (let pages = 0; pages < (isDigest ? DIGEST_PAGES_MAX : 1); pages += 1) {
    if (pages > 0) await nextTurn()
    const page = await readEntries(reader, webhook, entries.at(-1)?.seq ?? afterSeq, pageMax)
    for (const entry of await chooseEntries(reader, webhook, page)) {
      chosen.add(entry)
      characters += entry.payloadText.length
    }
    entries.push(...page)
    if (page.length === 0 || chosen.size >= messagesMax || characters >= DIGEST_CHARACTERS_MAX)
      break
  }
  return { entries, chosen }
}
