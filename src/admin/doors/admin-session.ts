import type { AdminOperations } from '../../protocol/admin/operations.ts'

/** The admin operations, from the running hub or from the vault itself; the caller that opened it closes it. */
export interface AdminSession {
  readonly operations: AdminOperations
  readonly isThroughHub: boolean
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
}

export interface CheckedPassphrase {
  /** Where the vault is. */
  readonly path: string
  /** Why it is a weak one. */
  readonly faults: readonly string[]
}
