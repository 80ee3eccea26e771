import { SvcError } from '../../platform/errors.ts'

export type VaultErrorCode =
  | 'vault_missing'
  | 'vault_locked'
  | 'vault_wrong_passphrase'
  | 'vault_wrong_recovery_key'
  | 'vault_corrupt'
  | 'vault_newer'
  | 'vault_unavailable'
  | 'vault_unsynced'

export class VaultError extends SvcError {
  override name = 'VaultError'
  declare readonly code: VaultErrorCode
  constructor(
    code: VaultErrorCode,
    message: string,
    options: { cause?: unknown; hint?: string } = {},
  ) {
    super(code, message, options)
  }
}
