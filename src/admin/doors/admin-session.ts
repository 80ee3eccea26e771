import type { AdminOperations } from '../../protocol/admin.ts'

/** The admin operations, from the running hub or from the vault itself; whoever opened it closes it. */
export interface AdminSession {
  readonly operations: AdminOperations
  readonly isThroughHub: boolean
  close(): Promise<void>
}
