// What may be wrong with the database that several hubs share, by a name that stays. docs/protocol.md DBS-7.

export type DatabaseFault =
  | 'unreachable'
  | 'pooled'
  | 'session_altered'
  | 'version'
  | 'fsync'
  | 'full_page_writes'
  | 'synchronous_commit'
  | 'no_standby'
  | 'clock'
  | 'rights'

export interface DatabaseFinding {
  readonly fault: DatabaseFault
  /** A hub does not start with one that has failed. */
  readonly status: 'warning' | 'failed'
  readonly message: string
}
