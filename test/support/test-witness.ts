// A witness of checkpoints as c2sp.org/tlog-cosignature has it, with Ed25519.

import { generateKeyPairSync, hash, sign } from 'node:crypto'

export interface TestWitness {
  /** `<name>+<hash>+<key>`. */
  readonly key: string
  /** The note with one more signature. */
  cosign(note: string, seconds?: number): string
}

const COSIGNATURE = Buffer.of(4)
const KEY_BYTES = 32
const SECONDS = 1_790_000_000

export function testWitness(name = 'witness.example/w1'): TestWitness {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-KEY_BYTES)
  const typed = Buffer.concat([COSIGNATURE, raw])
  const named = Buffer.concat([Buffer.from(`${name}\n`), typed])
  const keyHash = hash('sha256', named, 'buffer').subarray(0, 4)
  return {
    key: `${name}+${keyHash.toString('hex')}+${typed.toString('base64')}`,
    cosign: (note, seconds = SECONDS) => {
      const text = note.slice(0, note.indexOf('\n\n') + 1)
      const message = Buffer.from(`cosignature/v1\ntime ${seconds}\n${text}`)
      const time = Buffer.alloc(8)
      time.writeBigUInt64BE(BigInt(seconds))
      const signature = Buffer.concat([keyHash, time, sign(null, message, privateKey)])
      return `${note}— ${name} ${signature.toString('base64')}\n`
    },
  }
}
