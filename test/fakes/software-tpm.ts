// A TPM in software, whose keys do what a test likes: it activates credentials, and signs quotes, and whatever else it is told to. That a
// real one does the same is for the tests with swtpm.

import {
  constants,
  createDecipheriv,
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  privateDecrypt,
  sign,
  timingSafeEqual,
} from 'node:crypto'
import { sized, uint16, uint32 } from '../../src/tpm/tpm-bytes.ts'

export interface SoftwareTpm {
  readonly ek: { readonly privateKey: KeyObject; readonly spki: Buffer; readonly sha256: string }
  /** What the credential says, as TPM2_ActivateCredential; throws where it is for another EK or another AK. */
  activate(credential: Buffer, encryptedSeed: Buffer, akName: Buffer): Buffer
}

/** fixedTPM, fixedParent, sensitiveDataOrigin, userWithAuth, restricted, sign. */
export const AK_ATTRIBUTES = 0x0005_0072

export interface SoftwareAk {
  readonly privateKey: KeyObject
  /** TPM2B_PUBLIC. */
  readonly public: Buffer
  readonly name: Buffer
}

interface AkForm {
  readonly attributes?: number
  readonly nameAlgorithm?: number
  readonly scheme?: number
  readonly curve?: string
}

export function makeAk(form: AkForm = {}): SoftwareAk {
  const { attributes = AK_ATTRIBUTES, nameAlgorithm = 0x000b, scheme = 0x0018 } = form
  const { curve = 'P-256' } = form
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: curve })
  const { x, y } = pointOf(publicKey)
  const area = Buffer.concat([
    uint16(0x0023),
    uint16(nameAlgorithm),
    uint32(attributes),
    sized(Buffer.alloc(0)),
    uint16(0x0010),
    uint16(scheme),
    uint16(0x000b),
    uint16(curve === 'P-256' ? 0x0003 : 0x0004),
    uint16(0x0010),
    sized(x),
    sized(y),
  ])
  const name = Buffer.concat([uint16(0x000b), hash('sha256', area, 'buffer')])
  return { privateKey, public: sized(area), name }
}

export function makeTpm(): SoftwareTpm {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' })
  return {
    ek: { privateKey, spki, sha256: hash('sha256', spki) },
    activate: (credential, encryptedSeed, akName) => {
      const [blob] = split(credential)
      const [secret] = split(encryptedSeed)
      const seed = openSeed(privateKey, secret)
      const [mac, identity] = split(blob)
      const macKey = derive(seed, 'INTEGRITY', Buffer.alloc(0), 256)
      const own = createHmac('sha256', macKey).update(identity).update(akName).digest()
      if (!timingSafeEqual(own, mac)) throw new Error('TPM_RC_INTEGRITY')
      const key = derive(seed, 'STORAGE', akName, 128)
      const decipher = createDecipheriv('aes-128-cfb', key, Buffer.alloc(16))
      const [said] = split(Buffer.concat([decipher.update(identity), decipher.final()]))
      return said
    },
  }
}

export interface QuoteForm {
  readonly magic?: number
  readonly type?: number
  readonly after?: Buffer
  readonly selections?: number
}

/** TPMS_ATTEST of a quote. */
export function makeQuote(over: Buffer, form: QuoteForm = {}): Buffer {
  const { magic = 0xff_54_43_47, type = 0x80_18, after = Buffer.alloc(0), selections = 1 } = form
  const selection = Buffer.from('000b03010000', 'hex')
  return Buffer.concat([
    uint32(magic),
    uint16(type),
    sized(Buffer.alloc(34, 1)),
    sized(over),
    Buffer.alloc(25),
    uint32(selections),
    ...Array.from({ length: selections }, () => selection),
    sized(Buffer.alloc(32, 2)),
    after,
  ])
}

export function signQuote(ak: SoftwareAk, quote: Buffer): Buffer {
  return sign('sha256', quote, ak.privateKey)
}

/** The content of a TPM2B, and what comes after it. */
function split(bytes: Buffer): [Buffer, Buffer] {
  const end = 2 + bytes.readUInt16BE()
  return [bytes.subarray(2, end), bytes.subarray(end)]
}

function openSeed(key: KeyObject, secret: Buffer): Buffer {
  const padding = constants.RSA_PKCS1_OAEP_PADDING
  const oaepLabel = Buffer.from('IDENTITY\0')
  return privateDecrypt({ key, padding, oaepHash: 'sha256', oaepLabel }, secret)
}

function derive(key: Buffer, label: string, context: Buffer, bits: number): Buffer {
  const parts = [uint32(1), Buffer.from(`${label}\0`), context, uint32(bits)]
  const mac = createHmac('sha256', key).update(Buffer.concat(parts)).digest()
  return mac.subarray(0, bits / 8)
}

function pointOf(key: KeyObject): { readonly x: Buffer; readonly y: Buffer } {
  const { x = '', y = '' } = key.export({ format: 'jwk' })
  return { x: Buffer.from(x, 'base64url'), y: Buffer.from(y, 'base64url') }
}
