import type { PromoteReply, StandbyStatus } from '../../protocol/standby.ts'
import type { BackupHead } from '../../backup/backup-head.ts'
import type { Secret } from '../../platform/secret.ts'
import type { Recipient } from '../../protocol/identifiers.ts'
import type { OpenChanges } from './hub-changes.ts'
import type { AdminOperations } from '../../protocol/admin/operations.ts'

/** The admin operations, from the running hub or from the vault itself; the caller that opened it closes it. */
/** What a restore made of a backup. */
export interface RestoredVault {
  readonly path: string
  readonly head: BackupHead
  /** Acts after the backup that were done again. */
  readonly actsDone: number
  /** Why there may be others; undefined when there are none but those of the last second. */
  readonly gap: string | undefined
}

export interface AdminSession {
  readonly operations: AdminOperations
  readonly isThroughHub: boolean
  /** Only through a hub. */
  readonly openChanges?: OpenChanges
  /** Begins a backup, and answers its bytes. */
  openBackup(): Promise<AsyncIterable<Uint8Array>>
  close(): Promise<void>
}

/** Runs `work` on the vault or on the hub that holds it, and closes it again. */
export type WithAdmin = <T>(
  work: (session: AdminSession) => Promise<T>,
  options?: AdminOptions,
) => Promise<T>

export interface AdminOptions {
  /** Opens a vault whose audit log lost entries, and records the loss. */
  readonly acceptLoss?: boolean
  /** Reads every page of the database; a running hub is not asked to. */
  readonly checkPages?: boolean
}

/** The vault itself, whether a hub runs or not. */
export interface VaultControls {
  /** Creates the vault, with its journal in a PostgreSQL when there is to be one, and answers where. */
  create(): Promise<string>
  /** Throws when the passphrase does not open the vault. */
  checkPassphrase(): Promise<CheckedPassphrase>
  /** Makes a backup of it, by the hub that holds it if there is one. */
  withBackup: WithBackup
  /** Opens a backup and checks all of it. */
  verifyBackup(file: string, how: BackupVerification): Promise<BackupHead>
  /** Makes the vault from a backup, and answers where it is. The recovery key counts in place of the passphrase. */
  restore(file: string, recoveryIdentity: Secret<string> | undefined): Promise<RestoredVault>
  /** Refuses while a hub runs. */
  changePassphrase(change: PassphraseChange): Promise<KeyChangeReport>
  /** Refuses while a hub runs. */
  addRecoveryKey(key: NewRecoveryKey): Promise<KeyChangeReport>
  removeRecoveryKey(key: GoneRecoveryKey): Promise<KeyChangeReport>
  /** Makes another vault, with another data key. */
  rekey(wanted: Rekey): Promise<KeyChangeReport>
  /** Refuses while a hub runs. */
  compact(): Promise<CompactReport>
  /** Gives the vault a journal in a PostgreSQL, or ends that. Refuses while a hub runs. */
  migrate(migration: VaultMigration): Promise<MigrateReport>
  /** Makes a vault of the journal that another one shares, whose config.json the file is. */
  join(file: string): Promise<JoinReport>
  readonly standby: StandbyControls
  /** As config.json says, which the passphrase authenticates; beside a hub too. */
  listRecoveryKeys(): Promise<readonly RecoveryKey[]>
}

export interface VaultMigration {
  readonly to: 'postgresql' | 'embedded'
  /** A journal of this vault that the database has already goes. */
  readonly replaces: boolean
}

export interface MigrateReport {
  /** Where the vault is. */
  readonly path: string
  readonly to: 'postgresql' | 'embedded'
  /** False when it was there already. */
  readonly isChanged: boolean
}

/** Of the svc-server on this machine, but for `init`. */
export interface StandbyControls {
  init(file: string): Promise<{ readonly path: string; readonly vaultId: string }>
  status(): Promise<StandbyStatus>
  promote(force: boolean): Promise<PromoteReply>
}

export interface JoinReport {
  /** Where the vault is. */
  readonly path: string
  readonly vaultId: string
  /** In its log. */
  readonly entries: number
  /** What is wrong with images that were passed over. */
  readonly damaged: readonly string[]
}

export interface BackupVerification {
  /** With room for the database; svc chooses one when there is none. */
  readonly scratch: string | undefined
  /** A recovery key, in place of the passphrase. */
  readonly recoveryIdentity: Secret<string> | undefined
}

export interface CompactReport {
  /** Where the vault is. */
  readonly path: string
  readonly bytesBefore: number
  readonly bytesAfter: number
}

export interface Rekey {
  /** The directory of the new vault. */
  readonly to: string
  readonly isRehearsal: boolean
}

export interface NewRecoveryKey {
  readonly name: string
  readonly recipient: string
  readonly isRehearsal: boolean
}

export interface GoneRecoveryKey {
  readonly name: string
  readonly isRehearsal: boolean
}

export interface RecoveryKey {
  readonly name: string
  readonly recipient: Recipient
  readonly fingerprint: string
  readonly createdAt: Date
}

export interface PassphraseChange {
  /** A person is asked for it when there is none. */
  readonly newPassphrase: Secret<string> | undefined
  /** Opens the vault in place of the old passphrase. */
  readonly recoveryIdentity: Secret<string> | undefined
  /** Does everything but the change itself. */
  readonly isRehearsal: boolean
}

/** What the audit log says of a change of the vault's keys. */
export interface KeyChangeReport {
  /** Where the vault is. */
  readonly path: string
  readonly type: string
  readonly payload: Readonly<Record<string, unknown>>
}

export type WithBackup = <T>(
  options: {
    /** It goes into a file of the operator's, with the operator's rights. */
    readonly isForFile: boolean
  },
  work: (pieces: AsyncIterable<Uint8Array>) => Promise<T>,
) => Promise<T>

export interface CheckedPassphrase {
  /** Where the vault is. */
  readonly path: string
  /** Why it is a weak one. */
  readonly faults: readonly string[]
}
