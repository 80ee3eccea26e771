import { hash } from 'node:crypto'
import type { TokenHash } from '../../protocol/identifiers.ts'

/**
 * Of an admin token that is bounded to some hosts: by another hash, so that a hub of a version which knows no bounds does not
 * find it. docs/protocol.md LBL-15.
 */
export function hashBoundedToken(plaintext: string): TokenHash {
  return hashToken(`bounded ${plaintext}`)
}

/** A token has 256 random bits, so its plain SHA-256 gives nothing away. docs/protocol.md TOK-1. */
export function hashToken(plaintext: string): TokenHash {
  return hash('sha256', plaintext, 'hex') as TokenHash
}
