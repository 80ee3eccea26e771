// A part of the audit log that lies in a file of its own, outside the vault. docs/protocol.md ARC.

/** Segments begin and end where blocks of the log’s tree do, so the vault keeps the hashes of what is in them. */
export const SEGMENT_BLOCK_ENTRIES = 256

export interface LogSegment {
  /** Its first and its last entry. */
  readonly first: number
  readonly last: number
  readonly firstTimestamp: string
  readonly lastTimestamp: string
  /** What its first entry is chained to. */
  readonly previousHash: string
  /** Of its last entry. */
  readonly hash: string
  /** The name of the file, without its directory. */
  readonly file: string
  readonly bytes: number
  readonly createdAt: Date
}
