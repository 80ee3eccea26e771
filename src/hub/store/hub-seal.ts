// What a hub says of itself in the database, sealed: a salt of 16 bytes, JSON under AES-256-GCM, its tag. The key is HKDF-SHA256 of the data key
// with the salt; the id of the hub is authenticated with it. docs/protocol.md HUB-2.

import { randomBytes } from 'node:crypto'
import { deriveSaltedKey, PieceSeal } from '../../platform/sealed-pieces.ts'
import type { Secret } from '../../platform/secret.ts'

export interface HubDescription {
  /** Of the machine. */
  readonly host: string
  readonly version: string
  readonly startedAt: string
  /** The newest version of the tables that it knows. */
  readonly tables: number
}

const SALT_BYTES = 16
const PURPOSE = 'cartorio hub'

export class HubSeal {
  readonly #dataKey: Secret<Buffer>
  readonly #vaultId: string

  constructor(dataKey: Secret<Buffer>, vaultId: string) {
    this.#dataKey = dataKey
    this.#vaultId = vaultId
  }

  seal(hubId: string, description: HubDescription): Buffer {
    const salt = randomBytes(SALT_BYTES)
    const content = Buffer.from(JSON.stringify(description))
    return Buffer.concat([salt, ...this.#sealOf(salt, hubId).seal(0, content)])
  }

  /** Undefined for what this vault has not sealed for that hub. */
  open(hubId: string, sealed: Buffer): HubDescription | undefined {
    const salt = sealed.subarray(0, SALT_BYTES)
    const content = this.#sealOf(salt, hubId).open(0, sealed.subarray(SALT_BYTES))
    return content && (JSON.parse(content.toString()) as HubDescription)
  }

  #sealOf(salt: Buffer, hubId: string): PieceSeal {
    const key = deriveSaltedKey(this.#dataKey, salt.toString('hex'), PURPOSE)
    return new PieceSeal(key, Buffer.from(`${this.#vaultId}\n${hubId}`), 1)
  }
}
