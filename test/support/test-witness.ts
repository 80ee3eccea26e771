// A witness of checkpoints as c2sp.org/tlog-cosignature has it, with Ed25519 or ML-DSA-44.

import { generateKeyPairSync, hash, type KeyPairKeyObjectResult, sign } from 'node:crypto'

export interface TestWitness {
  /** `<name>+<hash>+<key>`. */
  readonly key: string
  /** The note with one more signature. */
  cosign(note: string, seconds?: number): string
}

type WitnessKind = 'ed25519' | 'ml-dsa-44'

const SECONDS = 1_790_000_000

export function testWitness(
  name = 'witness.example/w1',
  kind: WitnessKind = 'ed25519',
): TestWitness {
  const { type, keyBytes, pair, format } = KINDS[kind]
  const { privateKey, publicKey } = pair()
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-keyBytes)
  const typed = Buffer.concat([Buffer.of(type), raw])
  const named = Buffer.concat([Buffer.from(`${name}\n`), typed])
  const keyHash = hash('sha256', named, 'buffer').subarray(0, 4)
  return {
    key: `${name}+${keyHash.toString('hex')}+${typed.toString('base64')}`,
    cosign: (note, seconds = SECONDS) => {
      const text = note.slice(0, note.indexOf('\n\n') + 1)
      const made = sign(null, format(text, seconds, name), privateKey)
      const signature = Buffer.concat([keyHash, uint64(seconds), made])
      return `${note}— ${name} ${signature.toString('base64')}\n`
    },
  }
}

const KINDS: Readonly<
  Record<
    WitnessKind,
    {
      readonly type: number
      readonly keyBytes: number
      readonly pair: () => KeyPairKeyObjectResult
      readonly format: (text: string, seconds: number, name: string) => Buffer
    }
  >
> = {
  ed25519: {
    type: 4,
    keyBytes: 32,
    pair: () => generateKeyPairSync('ed25519'),
    format: (text, seconds) => Buffer.from(`cosignature/v1\ntime ${seconds}\n${text}`),
  },
  'ml-dsa-44': {
    type: 6,
    keyBytes: 1312,
    pair: () => generateKeyPairSync('ml-dsa-44'),
    format: (text, seconds, name) => {
      const [origin = '', size, root = ''] = text.split('\n')
      const parts = [Buffer.from('subtree/v1\n\0'), sized(name), uint64(seconds), sized(origin)]
      const tree = [uint64(0), uint64(Number(size)), Buffer.from(root, 'base64')]
      return Buffer.concat([...parts, ...tree])
    },
  },
}

function sized(text: string): Buffer {
  return Buffer.concat([Buffer.of(text.length), Buffer.from(text)])
}

function uint64(number: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(number))
  return bytes
}
