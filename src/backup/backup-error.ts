import { SvcError } from '../platform/errors.ts'

export type BackupErrorCode =
  /** Not a backup at all. */
  | 'backup_unknown'
  /** It ends before its end. */
  | 'backup_truncated'
  /** It goes on behind its end. */
  | 'backup_too_long'
  /** A byte is not the one that was written, or it was put together from several backups. */
  | 'backup_damaged'
  | 'backup_newer'
  /** It took too long, or held up too much. */
  | 'backup_given_up'

export class BackupError extends SvcError {
  override name = 'BackupError'
  declare readonly code: BackupErrorCode
  constructor(
    code: BackupErrorCode,
    message: string,
    options: { cause?: unknown; hint?: string } = {},
  ) {
    super(code, message, options)
  }
}
