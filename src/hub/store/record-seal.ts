// How a record of the journal is sealed. Bytes: a salt of 16, the content under AES-256-GCM, its tag of 16. The key is HKDF-SHA256 of the data
// key with the salt, so that two hubs that seal a record of the same number use two keys, and the nonce can be zero. The place of the record is
// authenticated with it: vault, number, and the hash of all before it, which is SHA-256 of the hash before that and the sealed bytes. So a
// record opens only where it was appended, after everything that it was appended to.

import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
import type { Secret } from '../../platform/secret.ts'
import { deriveSaltedKey } from '../../platform/sealed-pieces.ts'
import type { JournalPosition, JournalRecord } from './journal.ts'
import { StoreError } from './store-error.ts'

/** Of a database that follows no journal: none begins with this hash. */
export const NO_JOURNAL: JournalPosition = { number: 0, hash: Buffer.alloc(32) }

const CIPHER = 'aes-256-gcm'
const SALT_BYTES = 16
const TAG_BYTES = 16
const NONCE = Buffer.alloc(12)
const PURPOSE = 'cartorio journal record'

export class RecordSeal {
  readonly #dataKey: Secret<Buffer>
  readonly #vaultId: string

  constructor(dataKey: Secret<Buffer>, vaultId: string) {
    this.#dataKey = dataKey
    this.#vaultId = vaultId
  }

  /** The record after this position. */
  seal(before: JournalPosition, content: Buffer): JournalRecord {
    const number = before.number + 1
    const salt = randomBytes(SALT_BYTES)
    const cipher = createCipheriv(CIPHER, this.#keyOf(salt), NONCE, { authTagLength: TAG_BYTES })
    cipher.setAAD(this.#placeOf(before))
    const sealed = Buffer.concat([
      salt,
      cipher.update(content),
      cipher.final(),
      cipher.getAuthTag(),
    ])
    return { number, sealed }
  }

  /** Throws StoreError `store_diverged` for a record that does not belong after this position. */
  open(before: JournalPosition, { number, sealed }: JournalRecord): Buffer {
    const end = sealed.length - TAG_BYTES
    try {
      if (number !== before.number + 1 || end < SALT_BYTES) throw new Error('of another place')
      const key = this.#keyOf(sealed.subarray(0, SALT_BYTES))
      const decipher = createDecipheriv(CIPHER, key, NONCE, { authTagLength: TAG_BYTES })
      decipher.setAAD(this.#placeOf(before))
      decipher.setAuthTag(sealed.subarray(end))
      const content = decipher.update(sealed.subarray(SALT_BYTES, end))
      return Buffer.concat([content, decipher.final()])
    } catch (error) {
      const message = `record ${number} of the journal does not follow record ${before.number} of this vault`
      throw new StoreError('store_diverged', message, { cause: error })
    }
  }

  #keyOf(salt: Buffer): Buffer {
    return deriveSaltedKey(this.#dataKey, salt.toString('hex'), PURPOSE)
  }

  #placeOf({ number, hash: before }: JournalPosition): Buffer {
    return Buffer.concat([Buffer.from(`${this.#vaultId}\n${number + 1}\n`), before])
  }
}

/** Where a database is once it has followed this record too. */
export function positionAfter(
  before: JournalPosition,
  { number, sealed }: JournalRecord,
): JournalPosition {
  return { number, hash: hash('sha256', Buffer.concat([before.hash, sealed]), 'buffer') }
}

export function isSamePosition(one: JournalPosition, other: JournalPosition): boolean {
  return one.number === other.number && one.hash.equals(other.hash)
}
