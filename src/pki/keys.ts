// Private keys are made here, on the machine that uses them, and are PKCS#8 PEM (RFC 5208) on disk.

import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'

export interface PrivateKey {
  readonly keyObject: KeyObject
  /** PKCS#8, PEM. */
  readonly pem: string
  /** SubjectPublicKeyInfo (RFC 5280), DER: what a certificate of this key carries. */
  readonly publicKeySpki: Buffer
}

export const KEY_TYPES = [
  'ec-p256',
  'ec-p384',
  'ed25519',
  'rsa-2048',
  'rsa-3072',
  'rsa-4096',
] as const
export type KeyType = (typeof KEY_TYPES)[number]

const generate = promisify(generateKeyPair)

const GENERATORS: Readonly<Record<KeyType, () => Promise<{ privateKey: KeyObject }>>> = {
  'ec-p256': () => generate('ec', { namedCurve: 'P-256' }),
  'ec-p384': () => generate('ec', { namedCurve: 'P-384' }),
  ed25519: () => generate('ed25519', {}),
  'rsa-2048': () => generate('rsa', { modulusLength: 2048 }),
  'rsa-3072': () => generate('rsa', { modulusLength: 3072 }),
  'rsa-4096': () => generate('rsa', { modulusLength: 4096 }),
}

export async function generateKey(type: KeyType): Promise<PrivateKey> {
  const { privateKey } = await GENERATORS[type]()
  return fromKeyObject(privateKey)
}

export function generateEcP256Key(): Promise<PrivateKey> {
  return generateKey('ec-p256')
}

/** Throws when the text is not a PEM private key. */
export function parsePrivateKeyPem(pem: string): PrivateKey {
  return fromKeyObject(createPrivateKey(pem))
}

/** The two texts are made when they are asked for: parsing a key costs less than writing it down again. */
function fromKeyObject(keyObject: KeyObject): PrivateKey {
  let publicKeySpki: Buffer | undefined
  return {
    keyObject,
    get pem() {
      return keyObject.export({ type: 'pkcs8', format: 'pem' }).toString()
    },
    get publicKeySpki() {
      publicKeySpki ??= createPublicKey(keyObject).export({ type: 'spki', format: 'der' })
      return publicKeySpki
    },
  }
}

/** The keys that we certify: P-256, P-384, Ed25519, RSA of 2048 to 4096 bits. */
export function isAcceptablePublicKey(key: KeyObject): boolean {
  const details = key.asymmetricKeyDetails ?? {}
  switch (key.asymmetricKeyType) {
    case 'ec':
      return details.namedCurve === 'prime256v1' || details.namedCurve === 'secp384r1'
    case 'ed25519':
      return true
    case 'rsa': {
      const bits = details.modulusLength ?? 0
      return bits >= 2048 && bits <= 4096
    }
    default:
      return false
  }
}
