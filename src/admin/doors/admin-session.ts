import type { BackupHead } from '../../backup/backup-head.ts'
import type { AdminOperations } from '../../protocol/admin/operations.ts'

/** The admin operations, from the running hub or from the vault itself; the caller that opened it closes it. */
export interface AdminSession {
  readonly operations: AdminOperations
  readonly isThroughHub: boolean
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
  /** Creates the vault and answers where. */
  create(): Promise<string>
  /** Throws when the passphrase does not open the vault. */
  checkPassphrase(): Promise<CheckedPassphrase>
  /** Makes a backup of it, by the hub that holds it if there is one. */
  withBackup: WithBackup
  /** Opens a backup and checks all of it, in the directory `scratch` or one of its own choice. */
  verifyBackup(file: string, scratch?: string): Promise<BackupHead>
  /** Makes the vault from a backup, and answers where it is. */
  restore(file: string): Promise<{ readonly path: string; readonly head: BackupHead }>
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
