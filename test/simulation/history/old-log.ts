// A vault whose log is old and long enough to be archived. No history could live as long: it is made once, and copied.

import { randomUUID } from 'node:crypto'
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chainEntries } from '../../../src/audit/chain-entries.ts'
import { KEPT_ENTRIES_MIN } from '../../../src/hub/domain/log-archive.ts'
import { SEGMENT_BLOCK_ENTRIES } from '../../../src/hub/domain/log-segment.ts'
import { openVaultStore } from '../../../src/hub/open-store.ts'
import { growLogTree, newLogTree } from '../../../src/hub/service/log-tree.ts'
import type { UnsealedVault } from '../../../src/hub/vault/vault.ts'
import type { EntryId } from '../../../src/protocol/identifiers.ts'
import { HubEventType } from '../../../src/protocol/words.ts'

export interface OldLog {
  readonly vault: UnsealedVault
  /** Of its entries, from the first one on. */
  readonly records: readonly string[]
  /** Of the last one. */
  readonly hash: string
}

/** So many may leave the vault, once the log has grown by as many as are left over. */
const BLOCKS = 2
const ENTRIES = BLOCKS * SEGMENT_BLOCK_ENTRIES + KEPT_ENTRIES_MIN
const DAY_MS = 86_400_000
/** How old its entries are, in days. */
export const OLD_LOG_DAYS = { first: 90, last: 40 } as const

export async function makeOldLog(vault: UnsealedVault, root: string, now: Date): Promise<OldLog> {
  mkdirSync(root, { mode: 0o700 })
  for (const name of ['config.json', 'db.enc']) {
    copyFileSync(join(vault.root, name), join(root, name))
  }
  const old = { ...vault, root, databasePath: join(root, 'db.enc') }
  const atOf = (index: number): Date => {
    const days = OLD_LOG_DAYS.first - (index * (OLD_LOG_DAYS.first - OLD_LOG_DAYS.last)) / ENTRIES
    return new Date(now.getTime() - days * DAY_MS)
  }
  const clock = { now: () => atOf(ENTRIES), sleep: () => Promise.resolve() }
  const store = await openVaultStore(old, { clock })
  try {
    const entries = Array.from({ length: ENTRIES }, (_, index) => ({
      id: randomUUID() as EntryId,
      agentId: null,
      deliveryId: null,
      requestId: null,
      eventType: HubEventType.backupStarted,
      payloadText: JSON.stringify({ actor: 'admin', backup_id: `backup ${index}` }),
      at: atOf(index),
    }))
    const chained = chainEntries(undefined, entries)
    await store.write((writer) => writer.insertEntries(chained))
    const records = await store.reader.listRecords(0, ENTRIES)
    const { tree, filled } = growLogTree(newLogTree(vault.vaultId), records)
    await store.write((writer) => writer.putLogTree(tree, filled))
    return { vault: old, records, hash: chained.at(-1)?.hash ?? '' }
  } finally {
    await store.close()
  }
}
