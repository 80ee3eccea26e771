import { hash } from 'node:crypto'
import type { TokenHash } from '../../protocol/identifiers.ts'

/** A token has 256 random bits, so its plain SHA-256 gives nothing away. docs/protocol.md TOK-1. */
export function hashToken(plaintext: string): TokenHash {
  return hash('sha256', plaintext, 'hex') as TokenHash
}
