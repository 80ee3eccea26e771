import type { ChainEnd } from '../../../audit/chain-entries.ts'

/**
 * What the writes of one transaction need not ask the database again: each event would ask for the end of the log and for
 * tokens that have expired. Nothing of it outlives its transaction.
 */
export class TransactionMemory {
  chainEnd: ChainEnd | undefined
  #ended: { readonly atMs: number; readonly changes: number } | undefined

  /** Tokens that expire until then have been ended, and no row that could be a token has changed since. */
  hasEndedTokens(now: Date, changes: number): boolean {
    const ended = this.#ended
    return ended !== undefined && ended.changes === changes && now.getTime() <= ended.atMs
  }

  noteEndedTokens(now: Date, changes: number): void {
    this.#ended = { atMs: now.getTime(), changes }
  }

  /** After a savepoint was rolled back. */
  forget(): void {
    this.chainEnd = undefined
    this.#ended = undefined
  }
}
