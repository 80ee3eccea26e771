// An unsealed vault's database, checked against the authenticated head of its audit log, which is kept up from then on.

import { randomUUID } from 'node:crypto'
import { GENESIS_HASH } from '../audit/hash-chain.ts'
import type { Clock } from '../platform/clock.ts'
import { errnoCode, SvcError } from '../platform/errors.ts'
import type { EntryId } from '../protocol/identifiers.ts'
import { HubEventType } from '../protocol/words.ts'
import { findHeadFault, type HeadFault } from './domain/find-head-fault.ts'
import type { AuditEntry } from './domain/audit-entry.ts'
import { openSqliteStore, type SqliteStore } from './store/sqlite/sqlite-store.ts'
import type { Store } from './store/store.ts'
import { openAuditHeadFile, type AuditHeadFile } from './vault/audit-head.ts'
import { vaultFiles } from './vault/vault-files.ts'
import type { UnsealedVault } from './vault/vault.ts'

export interface OpenStoreOptions {
  readonly clock: Clock
  /** Goes on with a log that lost entries, and says so in it. */
  readonly acceptLoss?: boolean
}

/** Throws SvcError `audit_log_shorter` when the log is not the one that the head saw. */
export async function openVaultStore(
  vault: UnsealedVault,
  options: OpenStoreOptions,
): Promise<Store> {
  const headFile = openAuditHeadFile(vaultFiles(vault.root).auditHead, vault.dataKey)
  let store: SqliteStore | undefined
  try {
    store = await openSqliteStore({
      path: vault.databasePath,
      dataKey: vault.dataKey,
      onCommit: (last) => keepHead(headFile, last),
    })
    await compareWithHead(store, headFile, options)
    return closingBoth(store, headFile)
  } catch (error) {
    await store?.close()
    headFile.close()
    throw error
  }
}

/** A head that cannot be written lags, which is no loss; the next commit brings it up. */
function keepHead(headFile: AuditHeadFile, last: AuditEntry): void {
  try {
    headFile.write(last)
  } catch (error) {
    if (errnoCode(error) === undefined) throw error
  }
}

async function compareWithHead(
  store: Store,
  headFile: AuditHeadFile,
  { clock, acceptLoss = false }: OpenStoreOptions,
): Promise<void> {
  const head = headFile.read()
  const last = await store.reader.findLastEntry()
  const atHead = head === undefined ? undefined : await findEntry(store, head.seq)
  const fault = findHeadFault(head, last, atHead)
  if (fault === undefined) {
    if (head === undefined) headFile.write({ seq: 0, hash: GENESIS_HASH })
    return
  }
  if (!acceptLoss) {
    throw new SvcError('audit_log_shorter', `${fault.reason}; first missing entry: ${fault.seq}`, {
      hint: 'restore the vault from a backup, or run svc unseal --accept-loss to go on without them',
    })
  }
  headFile.reset(await recordLoss(store, fault, head?.seq ?? null, clock.now()))
}

async function findEntry(store: Store, seq: number): Promise<AuditEntry | undefined> {
  const [entry] = await store.reader.listEntries({ afterSeq: seq - 1, limit: 1 })
  return entry?.seq === seq ? entry : undefined
}

async function recordLoss(
  store: Store,
  fault: HeadFault,
  headSeq: number | null,
  at: Date,
): Promise<AuditEntry> {
  const payload = {
    actor: 'admin',
    first_missing: fault.seq,
    head_seq: headSeq,
    reason: fault.reason,
  }
  return store.write((writer) =>
    writer.appendEntry({
      id: randomUUID() as EntryId,
      agentId: null,
      eventType: HubEventType.lossAccepted,
      payloadText: JSON.stringify(payload),
      deliveryId: null,
      requestId: null,
      at,
    }),
  )
}

function closingBoth(store: Store, headFile: AuditHeadFile): Store {
  return {
    reader: store.reader,
    get version() {
      return store.version
    },
    write: (work) => store.write(work),
    close: async () => {
      await store.close()
      headFile.close()
    },
  }
}
