// Trust keys, and what they sign, in the form of minisign without running it: src/trust/verify-signed-set.test.ts shows that the
// real one writes the same.

import { generateKeyPairSync, hash, type KeyObject, randomBytes, sign } from 'node:crypto'
import type { SignedSet, SignedStatement } from '../../src/protocol/schemas.ts'
import { formatKeyStatement, formatSetStatement } from '../../src/trust/statements.ts'
import { makeTrustKey, type TrustKey } from '../../src/trust/trust-key.ts'

export interface SignedNumber {
  readonly numero: number
  readonly epoca?: number
  readonly fleet?: string
}

export class TestTrustKey {
  readonly trustKey: TrustKey
  readonly #keyId = randomBytes(8)
  readonly #secret: KeyObject

  constructor(fleet = 'prod') {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    this.#secret = privateKey
    const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
    const line = Buffer.concat([Buffer.from('Ed'), this.#keyId, raw]).toString('base64')
    const trustKey = makeTrustKey(fleet, line)
    if (trustKey === undefined) throw new Error(`${fleet} is no fleet`)
    this.trustKey = trustKey
  }

  /** As `<fleet>:<key>`. */
  get text(): string {
    return this.trustKey.text
  }

  /** As its `.pub` file. */
  get file(): string {
    return `untrusted comment: minisign public key\n${this.trustKey.line}\n`
  }

  sign(statement: string): SignedStatement {
    const comment = 'timestamp:1795000000\tfile:set.txt\thashed'
    const signature = sign(null, hash('blake2b512', statement, 'buffer'), this.#secret)
    const global = sign(null, Buffer.concat([signature, Buffer.from(comment)]), this.#secret)
    const lines = [
      'untrusted comment: signature from minisign secret key',
      Buffer.concat([Buffer.from('ED'), this.#keyId, signature]).toString('base64'),
      `trusted comment: ${comment}`,
      global.toString('base64'),
      '',
    ]
    return { statement, signature: lines.join('\n') }
  }

  /** The roots by the SHA-256 of their DER. */
  signSet(
    fingerprints: readonly string[],
    { numero, epoca = 1, fleet }: SignedNumber,
  ): SignedStatement {
    const named = fleet ?? this.trustKey.fleet
    return this.sign(
      formatSetStatement({ fleet: named, epoch: epoca, number: numero, fingerprints }),
    )
  }

  signNext(next: TestTrustKey): SignedStatement {
    return this.sign(formatKeyStatement({ from: this.trustKey, to: next.trustKey }))
  }
}

export function asSignedSet(
  set: SignedStatement,
  keyChanges: readonly SignedStatement[] = [],
): SignedSet {
  return { ...set, key_changes: [...keyChanges] }
}
