// The tree over the audit log as the vault keeps it (audit/merkle-tree.ts), and what the hub signed of it last.

import type { Frontier } from '../../audit/merkle-tree.ts'

/**
 * Smaller subtrees are made again from their entries when a proof needs them: of 10,000,000 entries the vault then keeps 78,000 hashes, and
 * not 20,000,000.
 */
export const KEPT_LEVEL_MIN = 8

export interface LogTree {
  /** A secret: PKCS#8, DER, of the Ed25519 key that signs the log’s checkpoints, made with the tree. */
  readonly privateKeyDer: { reveal(): Buffer }
  /** Grows by one when a log goes on without entries that checkpoints were signed for: its tree is another one. From 1. */
  readonly epoch: number
  /** The name of the vault’s log in this epoch, and of its key: c2sp.org/tlog-checkpoint. */
  readonly origin: string
  readonly frontier: Frontier
  /** Signed over exactly this frontier. */
  readonly checkpoint: string
  /** The last checkpoint of this epoch that witnesses of others have signed, and somebody had the vault keep. */
  readonly cosigned?: string | undefined
  /** How each epoch but the first began: audit/epoch-statement.ts. */
  readonly epochs: readonly string[]
}
