import type { ChainEnd } from '../../../audit/chain-entries.ts'
import { TokenEnds } from './token-ends.ts'

/** What the writes of one transaction need not ask the database again. */
export class TransactionMemory {
  chainEnd: ChainEnd | undefined
  /** Outlives the transaction. */
  readonly tokenEnds: TokenEnds

  constructor(tokenEnds: TokenEnds = new TokenEnds()) {
    this.tokenEnds = tokenEnds
  }

  /** After something was rolled back. */
  forget(): void {
    this.chainEnd = undefined
    this.tokenEnds.forget()
  }
}
