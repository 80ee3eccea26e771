// The key that wraps the data key is derived from the master passphrase with Argon2id (RFC 9106).

import { argon2 } from 'node:crypto'
import type { Secret } from '../../platform/secret.ts'

export interface KeyDerivation {
  readonly memoryKib: number
  readonly passes: number
  readonly parallelism: number
  readonly salt: Buffer
}

export type KeyDerivationCost = Omit<KeyDerivation, 'salt'>

export const KEY_DERIVATION_COST: KeyDerivationCost = {
  memoryKib: 64 * 1024,
  passes: 3,
  parallelism: 4,
}

/** What a file may ask for: enough to be worth something, and never more than a host can give. */
export const KEY_DERIVATION_BOUNDS = {
  memoryKib: { min: 8 * 1024, max: 1024 * 1024 },
  passes: { min: 1, max: 16 },
  parallelism: { min: 1, max: 16 },
} as const

export const SALT_BYTES = 16
export const KEY_BYTES = 32

export function deriveKey(passphrase: Secret<string>, derivation: KeyDerivation): Promise<Buffer> {
  const parameters = {
    message: Buffer.from(passphrase.reveal(), 'utf8'),
    nonce: derivation.salt,
    memory: derivation.memoryKib,
    passes: derivation.passes,
    parallelism: derivation.parallelism,
    tagLength: KEY_BYTES,
  }
  return new Promise((resolve, reject) => {
    argon2('argon2id', parameters, (error, key) => {
      if (error === null) resolve(key)
      else reject(error)
    })
  })
}
