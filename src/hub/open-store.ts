// An unsealed vault's database, checked against the authenticated head of its audit log, which is kept up from then on.

import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { GENESIS_HASH } from '../audit/hash-chain.ts'
import { nodesOf } from '../audit/merkle-tree.ts'
import type { Clock } from '../platform/clock.ts'
import { describeError, errnoCode, SvcError } from '../platform/errors.ts'
import { syncDirectory } from '../platform/files.ts'
import { HubEventType } from '../protocol/words.ts'
import { withArchive } from './archive/archived-reader.ts'
import { type CheckpointFiles, checkpointFiles, type KeptCheckpoint } from './checkpoint-files.ts'
import { readKeptOutside } from './keep-outside.ts'
import { openSegments } from './service/act-segment.ts'
import { findEndedLogs } from './service/ended-logs.ts'
import { beginEpoch } from './service/log-tree.ts'
import { findCheckpointFault } from './service/find-checkpoint-fault.ts'
import { findSubtreeFault, findTreeFault } from './service/find-tree-fault.ts'
import { readLogNodes } from './service/read-log-nodes.ts'
import { findHeadFault, type HeadFault } from './domain/find-head-fault.ts'
import type { LogTree } from './domain/log-tree.ts'
import type { AuditEntry } from './domain/audit-entry.ts'
import { recordKeyChange } from './record-key-change.ts'
import { appendEntry } from './service/append-entries.ts'
import { hubAct } from './service/hub-acts.ts'
import { requireReadableFor } from './require-readable-tables.ts'
import { connectJournal, type JournalConnection } from './shared-journal.ts'
import type { JournalPosition } from './store/journal.ts'
import { openStandbyLink, type StandbyLink, type StandbySettings } from './standby/standby-link.ts'
import { requireNoOtherHub } from './standby/standby-role.ts'
import type { DatabaseServers } from './store/postgres/writable-connection.ts'
import { checkEveryPage, inspectAuditLog, nameFile } from './store/sqlite/encrypted-database.ts'
import type { CommittedBatch } from './store/sqlite/group-commit.ts'
import { openSqliteStore, type SqliteStore } from './store/sqlite/sqlite-store.ts'
import type { TablesStep } from './store/sqlite/tables-version.ts'
import type { CopiedStore } from './store/store-copy.ts'
import type { Store, StoreReader, StoreWriter } from './store/store.ts'
import { type AuditHead, openAuditHeadFile, type AuditHeadFile } from './vault/audit-head.ts'
import { readHubId } from './vault/hub-id.ts'
import { vaultFiles } from './vault/vault-files.ts'
import type { UnsealedVault } from './vault/vault.ts'

export interface OpenStoreOptions {
  readonly clock: Clock
  /** Goes on with a log that lost entries, and says so in it. */
  readonly acceptLoss?: boolean
  /** Reads every page of the database first. */
  readonly checkPages?: boolean
  /** Where checkpoints are kept outside the vault. */
  readonly checkpointDirectory?: string | undefined
  /** Where the segments of the log are. */
  readonly archiveDirectory?: string | undefined
  /** The PostgreSQL with the journal of the vault. */
  readonly database?: DatabaseServers | undefined
  /** The machine that keeps a copy. */
  readonly standby?: StandbySettings | undefined
  /** For the copy of a vault, which goes on without the journal that the vault has. */
  readonly leavesJournal?: boolean
  readonly onBatch?: ((batch: CommittedBatch) => void) | undefined
  readonly onRecord?: (() => void) | undefined
  /** Told when the log has new entries, this hub's or another's. */
  readonly onEntries?: (() => void) | undefined
  /** Told when the tables that several hubs have went forward. */
  readonly onTables?: ((step: TablesStep) => void) | undefined
}

export interface VaultStore extends CopiedStore {
  readonly standby: StandbyLink | undefined
  /** Undefined for a vault that shares no journal. */
  readonly sharing: Sharing | undefined
}

export interface Sharing extends JournalConnection {
  follow(this: void): Promise<void>
  /** Of the last record that is here. */
  readonly position: () => number
  /** The same, of what is committed, whatever is under way. */
  readonly committed: () => JournalPosition
}

/** Throws SvcError `audit_log_shorter` when the log is not the one that the head saw. */
export async function openVaultStore(
  vault: UnsealedVault,
  options: OpenStoreOptions,
): Promise<VaultStore> {
  const { database, leavesJournal = false, clock } = options
  if (!leavesJournal) requireNoOtherHub(vault.root)
  const sharing = leavesJournal ? undefined : connectJournal(vault, database, clock)
  let standby: StandbyLink | undefined
  const headFile = openAuditHeadFile(vaultFiles(vault.root).auditHead, vault.dataKey)
  let store: SqliteStore | undefined
  try {
    // Before anything of another database moves it on.
    const head = headFile.read()
    const inspect = (): HeadFault | undefined => inspectAgainstHead(vault, head, options)
    let fault = sharing === undefined ? inspect() : undefined
    if (options.checkPages === true) checkEveryPage(vault.databasePath, vault.dataKey)
    standby = options.standby && (await openStandbyLink(vault, options.standby, clock))
    const shared = sharing ?? standby?.shared
    store = await openSqliteStore({
      path: vault.databasePath,
      dataKey: vault.dataKey,
      onCommit: (last) => {
        keepHead(headFile, last)
        options.onEntries?.()
      },
      onBatch: options.onBatch,
      onRecord: options.onRecord,
      clock,
      shared: shared && { ...shared, onTables: options.onTables },
    })
    await standby?.start(store)
    await store.follow()
    if (sharing !== undefined) {
      const ownId = await readHubId(vault.root)
      await store.bringTablesForward(requireReadableFor(sharing, ownId))
    }
    // A standby that does not know the step refuses it: it is upgraded first.
    if (standby !== undefined) await store.bringTablesForward(async () => undefined)
    // The journal gives back what a database has lost that was put back to an earlier state.
    if (sharing !== undefined) fault = inspect()
    const tree = await store.reader.findLogTree()
    const isCut = tree !== undefined && (await inspectTree(vault, store.reader, tree, options))
    const rollback = await inspectAgainstCheckpoint(vault, store, tree, options)
    if (fault !== undefined || rollback !== undefined || isCut) {
      const loss = { fault, headSeq: head?.seq ?? null, rollback }
      headFile.reset(await recordLoss(store, vault.vaultId, loss, options))
      await setCheckpointAside(vault, options)
    } else if (headFile.read() === undefined) {
      headFile.reset({ seq: 0, hash: GENESIS_HASH })
      await syncDirectory(vault.root)
    }
    await recordKeyChange(store, vault.config, {
      now: options.clock.now(),
      acceptLoss: options.acceptLoss,
    })
    const reader = withArchive(store.reader, options.archiveDirectory)
    return closingAll(store, headFile, reader, { sharing, standby })
  } catch (error) {
    await store?.close()
    await sharing?.journal.close()
    await sharing?.hubs.close()
    await standby?.close()
    headFile.close()
    throw nameFile(vault.databasePath, error)
  }
}

/**
 * In a vault by itself before anything that could write is opened, since closing that would fold what is left of a damaged write-ahead log into
 * the database: a hub that refuses leaves everything as it was, to be looked at.
 */
function inspectAgainstHead(
  vault: UnsealedVault,
  head: AuditHead | undefined,
  { acceptLoss = false }: OpenStoreOptions,
): HeadFault | undefined {
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

interface Rollback {
  readonly reason: string
  /** Of more than there is, or of something else. */
  readonly checkpoint: string
}

/** A head beside the database is put back with it, the checkpoint elsewhere is not: docs/protocol.md CHN-18. */
async function inspectAgainstCheckpoint(
  vault: UnsealedVault,
  store: Store,
  tree: LogTree | undefined,
  { acceptLoss = false, checkpointDirectory, archiveDirectory }: OpenStoreOptions,
): Promise<Rollback | undefined> {
  if (checkpointDirectory === undefined) return undefined
  const files = checkpointFiles(checkpointDirectory, vault.vaultId)
  const reader = withArchive(store.reader, archiveDirectory)
  for (const { path, note } of await readCheckpoints(files, checkpointDirectory)) {
    const reason = await findCheckpointFault(reader, tree, note)
    if (reason !== undefined && acceptLoss) return { reason, checkpoint: note }
    if (reason !== undefined) {
      throw new SvcError('vault_rolled_back', `${path}: ${reason}`, {
        hint: 'the vault was put back to an earlier state: put the newest one back, or run svc unseal --accept-loss to continue without what came after it',
      })
    }
  }
  return undefined
}

/** Of the log that ended, whatever it lost: the vault signs under another name from here on, and would not know it again. */
async function setCheckpointAside(
  { vaultId }: UnsealedVault,
  { checkpointDirectory, clock }: OpenStoreOptions,
): Promise<void> {
  if (checkpointDirectory === undefined) return
  const files = checkpointFiles(checkpointDirectory, vaultId)
  const kept = await readCheckpoints(files, checkpointDirectory)
  if (kept.length > 0) await files.setAside(clock.now())
}

/**
 * Whether entries that the tree has are gone from the log, and the loss is accepted. Throws SvcError `log_tree_damaged` for a tree
 * that is not the one that the vault signed, and when nobody accepts the loss: the hub would sign what contradicts its last word.
 */
async function inspectTree(
  { vaultId }: UnsealedVault,
  reader: StoreReader,
  tree: LogTree,
  { acceptLoss = false, checkPages = false }: OpenStoreOptions,
): Promise<boolean> {
  const reason =
    findTreeFault(tree, vaultId) ?? (checkPages ? await findSubtreeFault(reader, tree) : undefined)
  const damaged = (why: string, hint: string): SvcError =>
    new SvcError('log_tree_damaged', `the audit log’s tree: ${why}`, { hint })
  if (reason !== undefined) throw damaged(reason, 'restore the vault from a backup')
  const last = (await reader.findChainEnd())?.seq ?? 0
  const { size } = tree.frontier
  if (size <= last) return false
  if (acceptLoss) return true
  throw damaged(
    `it has ${size} entries, and the log ends with entry ${last}`,
    'restore the vault from a backup, or run svc unseal --accept-loss to continue without the missing entries',
  )
}

/** A directory that is not there could be one that is not mounted: then nothing would be checked. */
async function readCheckpoints(
  files: CheckpointFiles,
  directory: string,
): Promise<readonly KeptCheckpoint[]> {
  try {
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK)
    return await files.read()
  } catch (error) {
    throw new SvcError('checkpoint_unreadable', `SVC_CHECKPOINT_PATH: ${describeError(error)}`, {
      hint: `SVC_CHECKPOINT_PATH names a directory in which the hub may read and write`,
    })
  }
}

interface Loss {
  readonly fault: HeadFault | undefined
  readonly headSeq: number | null
  readonly rollback: Rollback | undefined
}

/** The log goes on in a new epoch: the hub signs nothing that contradicts what it signed before. */
async function recordLoss(
  store: Store,
  vaultId: string,
  { fault, headSeq, rollback }: Loss,
  { clock, checkpointDirectory }: OpenStoreOptions,
): Promise<AuditEntry> {
  const at = clock.now()
  const kept =
    checkpointDirectory === undefined
      ? undefined
      : await readKeptOutside(checkpointDirectory, vaultId)
  return store.write(async (writer) => {
    const before = await writer.findLogTree()
    const left = before && (await cutToLog(writer, before))
    const signed = [...(kept?.checkpoints ?? []), ...(kept?.earlier ?? [])]
    if (before !== undefined) signed.push(before.checkpoint)
    const segments = left === undefined ? [] : openSegments(kept?.acts ?? [], left)
    const ended = left && (await findEndedLogs(writer, left, signed, segments))
    // The time, so that a vault that is put back again, and accepted again, does not sign under one name twice.
    const atLeast = Math.floor(at.getTime() / 1000)
    const tree = left && beginEpoch(left, vaultId, { ended, atLeast })
    if (tree !== undefined) await writer.putLogTree(tree, [])
    const payload = {
      actor: 'admin',
      first_missing: fault?.seq ?? null,
      head_seq: headSeq,
      reason: fault?.reason ?? rollback?.reason ?? 'the audit log ended before its tree',
      ...(rollback !== undefined && { checkpoint: rollback.checkpoint }),
      ...(tree !== undefined && { epoca: tree.epoch }),
    }
    return appendEntry(writer, hubAct(at, HubEventType.lossAccepted, payload))
  })
}

/** Of entries that somebody deleted the tree may know still. */
async function cutToLog(writer: StoreWriter, tree: LogTree): Promise<LogTree> {
  const size = (await writer.findChainEnd())?.seq ?? 0
  if (size >= tree.frontier.size) return tree
  const peaks = await readLogNodes(writer, nodesOf(0, size))
  return { ...tree, frontier: { size, peaks } }
}

function closingAll(
  store: SqliteStore,
  headFile: AuditHeadFile,
  reader: StoreReader,
  {
    sharing,
    standby,
  }: { sharing: JournalConnection | undefined; standby: StandbyLink | undefined },
): VaultStore {
  return {
    reader,
    standby,
    sharing: sharing && {
      ...sharing,
      follow: () => store.follow(),
      position: () => store.position,
      committed: () => store.committedPosition,
    },
    get version() {
      return store.version
    },
    versionOf: (id) => store.versionOf(id),
    write: (work, company) => store.write(work, company),
    openCopy: (manners) => store.openCopy(manners),
    close: async () => {
      await store.close()
      await sharing?.journal.close()
      await sharing?.lookout.close()
      await sharing?.hubs.close()
      await standby?.close()
      headFile.close()
    },
  }
}
