import type { AuditEntry } from '../domain/audit-entry.ts'
import type { JournalPosition } from './journal.ts'
import type { Store } from './store.ts'

/** All that a store held at one moment, as bytes that are encrypted like the store itself. */
export interface StoreCopy {
  /** Which kind of store reads the bytes. */
  readonly kind: string
  /** Of its tables. */
  readonly version: number
  readonly bytes: number
  /** The last entry of the audit log at that moment. */
  readonly last: AuditEntry | undefined
  /** The newest checkpoint of the log at that moment. */
  readonly checkpoint: string | undefined
  /** How far the store had followed its journal at that moment. */
  readonly position: JournalPosition
  /** Fills the buffer with the bytes from `position` on. */
  read(into: Buffer, position: number): Promise<void>
  /** How much disk the copy costs so far: what the store has to put off while it is open. */
  countHeldBytes(): Promise<number>
  /** May be called twice, and while a read is under way. */
  close(): Promise<void>
}

/** Readers and writers do not notice a copy. There is one at a time; one that gives way is closed when somebody asks for another. */
export interface CopiedStore extends Store {
  openCopy(manners?: 'gives way'): Promise<StoreCopy>
}
