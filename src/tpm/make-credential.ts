// TPM2_MakeCredential without a TPM: a secret that only the TPM with this endorsement key (EK) can read, and only while it has this
// attestation key. For EKs of the TCG's template L-1: RSA 2048, with SHA-256 and AES-128 in CFB mode.
// TPM 2.0 Library, part 1: 11.4.10.2 (KDFa), 24 (credential protection), B.10.4 (the seed).

import {
  constants,
  createCipheriv,
  createHmac,
  type KeyObject,
  publicEncrypt,
  randomBytes,
} from 'node:crypto'
import { sized, uint32 } from './tpm-bytes.ts'

export interface Credential {
  /** TPM2B_ID_OBJECT. */
  readonly blob: Buffer
  /** TPM2B_ENCRYPTED_SECRET. */
  readonly encryptedSeed: Buffer
}

const SEED_BYTES = 32
const KEY_BITS = 128
const MAC_BITS = 256

/** One RSA encryption. `secret` has at most the 32 bytes of a digest of SHA-256. */
export function makeCredential(ek: KeyObject, akName: Buffer, secret: Buffer): Credential {
  const seed = randomBytes(SEED_BYTES)
  const cipher = createCipheriv(
    'aes-128-cfb',
    kdfa(seed, 'STORAGE\0', akName, KEY_BITS),
    Buffer.alloc(16),
  )
  const identity = Buffer.concat([cipher.update(sized(secret)), cipher.final()])
  const macKey = kdfa(seed, 'INTEGRITY\0', Buffer.alloc(0), MAC_BITS)
  const mac = createHmac('sha256', macKey).update(identity).update(akName).digest()
  return {
    blob: sized(Buffer.concat([sized(mac), identity])),
    encryptedSeed: sized(encryptSeed(ek, seed)),
  }
}

function encryptSeed(key: KeyObject, seed: Buffer): Buffer {
  const padding = constants.RSA_PKCS1_OAEP_PADDING
  const oaepLabel = Buffer.from('IDENTITY\0')
  return publicEncrypt({ key, padding, oaepHash: 'sha256', oaepLabel }, seed)
}

/** Of as many bits as its hash has, or fewer. */
function kdfa(key: Buffer, label: string, context: Buffer, bits: number): Buffer {
  return createHmac('sha256', key)
    .update(uint32(1))
    .update(label)
    .update(context)
    .update(uint32(bits))
    .digest()
    .subarray(0, bits / 8)
}
