import { SvcError } from '../platform/errors.ts'

export type ArchiveErrorCode =
  /** No segment at all. */
  | 'segment_unknown'
  /** A byte is not the one that was written, or it is a segment of another vault or place. */
  | 'segment_damaged'
  | 'segment_newer'
  /** It is not where it has to be. */
  | 'segment_missing'
  /** The directory cannot be used. */
  | 'archive_unusable'
  | 'archive_unset'
  | 'archive_running'
  /** The entries are not those that the hub signed: they stay in the vault. */
  | 'log_not_as_signed'

/** Which entries cannot be read. */
export interface UnreadRange {
  readonly first: number
  readonly last: number
  readonly file: string
}

export class ArchiveError extends SvcError {
  override name = 'ArchiveError'
  declare readonly code: ArchiveErrorCode
  readonly range: UnreadRange | undefined
  constructor(
    code: ArchiveErrorCode,
    message: string,
    options: { cause?: unknown; hint?: string; range?: UnreadRange | undefined } = {},
  ) {
    super(code, message, options)
    this.range = options.range
  }
}
