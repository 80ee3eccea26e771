// An unsealed vault's database, checked against the authenticated head of its audit log, which is kept up from then on.

import { GENESIS_HASH } from '../audit/hash-chain.ts'
import type { Clock } from '../platform/clock.ts'
import { errnoCode, SvcError } from '../platform/errors.ts'
import { syncDirectory } from '../platform/files.ts'
import { HubEventType } from '../protocol/words.ts'
import { findHeadFault, type HeadFault } from './domain/find-head-fault.ts'
import type { AuditEntry } from './domain/audit-entry.ts'
import { appendEntry } from './service/append-entries.ts'
import { hubAct } from './service/hub-acts.ts'
import { checkEveryPage, inspectAuditLog } from './store/sqlite/encrypted-database.ts'
import type { CommittedBatch } from './store/sqlite/group-commit.ts'
import { openSqliteStore, type SqliteStore } from './store/sqlite/sqlite-store.ts'
import type { Store } from './store/store.ts'
import { openAuditHeadFile, type AuditHeadFile } from './vault/audit-head.ts'
import { vaultFiles } from './vault/vault-files.ts'
import type { UnsealedVault } from './vault/vault.ts'

export interface OpenStoreOptions {
  readonly clock: Clock
  /** Goes on with a log that lost entries, and says so in it. */
  readonly acceptLoss?: boolean
  /** Reads every page of the database first. */
  readonly checkPages?: boolean
  readonly onBatch?: ((batch: CommittedBatch) => void) | undefined
}

/** Throws SvcError `audit_log_shorter` when the log is not the one that the head saw. */
export async function openVaultStore(
  vault: UnsealedVault,
  options: OpenStoreOptions,
): Promise<Store> {
  const headFile = openAuditHeadFile(vaultFiles(vault.root).auditHead, vault.dataKey)
  let store: SqliteStore | undefined
  try {
    const fault = inspectAgainstHead(vault, headFile, options)
    if (options.checkPages === true) checkEveryPage(vault.databasePath, vault.dataKey)
    store = await openSqliteStore({
      path: vault.databasePath,
      dataKey: vault.dataKey,
      onCommit: (last) => keepHead(headFile, last),
      onBatch: options.onBatch,
      clock: options.clock,
    })
    if (fault !== undefined) {
      const headSeq = headFile.read()?.seq ?? null
      headFile.reset(await recordLoss(store, fault, headSeq, options.clock.now()))
    } else if (headFile.read() === undefined) {
      headFile.reset({ seq: 0, hash: GENESIS_HASH })
      await syncDirectory(vault.root)
    }
    return closingBoth(store, headFile)
  } catch (error) {
    await store?.close()
    headFile.close()
    throw error
  }
}

/**
 * Before anything that could write is opened, since closing that would fold what is left of a damaged write-ahead log into
 * the database: a hub that refuses leaves everything as it was, to be looked at.
 */
function inspectAgainstHead(
  vault: UnsealedVault,
  headFile: AuditHeadFile,
  { acceptLoss = false }: OpenStoreOptions,
): HeadFault | undefined {
  const head = headFile.read()
  const { last, atSeq } = inspectAuditLog(vault.databasePath, vault.dataKey, head?.seq ?? 0)
  const fault = findHeadFault(head, last, atSeq)
  if (fault === undefined || acceptLoss) return fault
  throw new SvcError('audit_log_shorter', `${fault.reason}; first missing entry: ${fault.seq}`, {
    hint: 'restore the vault from a backup, or run svc unseal --accept-loss to continue without the missing entries',
  })
}

/** A head that cannot be written lags, which is no loss; the next commit brings it up. */
function keepHead(headFile: AuditHeadFile, last: AuditEntry): void {
  try {
    headFile.write(last)
  } catch (error) {
    if (errnoCode(error) === undefined) throw error
  }
}

function recordLoss(
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
  const act = hubAct(at, HubEventType.lossAccepted, payload)
  return store.write((writer) => appendEntry(writer, act))
}

function closingBoth(store: Store, headFile: AuditHeadFile): Store {
  return {
    reader: store.reader,
    get version() {
      return store.version
    },
    versionOf: (id) => store.versionOf(id),
    write: (work, company) => store.write(work, company),
    close: async () => {
      await store.close()
      headFile.close()
    },
  }
}
