// The signature of a certificate request by its own key: proof that the caller has the key.

import { constants, verify } from 'node:crypto'
import { contentOf, type DerElement, DerTag, readDer, readDerAll, readDerSequence } from './der.ts'
import { encodePem } from './pem.ts'
import type { CertifiedKeyType } from './public-key-bounds.ts'

const { integer, objectIdentifier, sequence } = DerTag

interface Algorithm {
  readonly keyType: CertifiedKeyType
  readonly hash: string | null
}

/** By object identifier, DER in hex: RFC 5758, RFC 8017, RFC 8410. */
const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map([
  ['2a8648ce3d040302', { keyType: 'ec', hash: 'SHA256' }],
  ['2a8648ce3d040303', { keyType: 'ec', hash: 'SHA384' }],
  ['2a8648ce3d040304', { keyType: 'ec', hash: 'SHA512' }],
  ['2a864886f70d01010b', { keyType: 'rsa', hash: 'SHA256' }],
  ['2a864886f70d01010c', { keyType: 'rsa', hash: 'SHA384' }],
  ['2a864886f70d01010d', { keyType: 'rsa', hash: 'SHA512' }],
  ['2b6570', { keyType: 'ed25519', hash: null }],
])
const RSASSA_PSS = '2a864886f70d01010a'
const MGF1 = '2a864886f70d010108'
const HASHES: ReadonlyMap<string, string> = new Map([
  ['608648016503040201', 'SHA256'],
  ['608648016503040202', 'SHA384'],
  ['608648016503040203', 'SHA512'],
])

export interface SignedParts {
  readonly signed: Uint8Array
  /** AlgorithmIdentifier. */
  readonly algorithm: DerElement
  /** BIT STRING. */
  readonly signature: DerElement
}

interface CertifiedKey {
  readonly type: CertifiedKeyType
  /** SubjectPublicKeyInfo, DER. */
  readonly spki: Buffer
}

/**
 * `der` is what the elements are in. Throws what OpenSSL throws. The key goes to Node as PEM, in a string: of any object Node asks
 * first whether it is a key, by exceptions that cost half as much as the verification.
 */
export function isSignedBy(
  { type: keyType, spki }: CertifiedKey,
  der: Uint8Array,
  parts: SignedParts,
): boolean {
  const { signed, algorithm } = parts
  const bits = contentOf(der, parts.signature)
  const [identifier] = readDerSequence(der, algorithm, [objectIdentifier]) ?? []
  if (identifier === undefined || bits[0] !== 0) return false
  const name = hexOf(der, identifier)
  const signature = bits.subarray(1)
  const key = encodePem(spki, 'PUBLIC KEY')
  if (name === RSASSA_PSS) {
    const pss = readPss(der, { start: identifier.end, end: algorithm.end })
    if (pss === undefined || keyType !== 'rsa') return false
    const { RSA_PKCS1_PSS_PADDING: padding } = constants
    return verify(pss.hash, signed, { key, padding, saltLength: pss.saltLength }, signature)
  }
  const known = ALGORITHMS.get(name)
  if (known === undefined || known.keyType !== keyType) return false
  return verify(known.hash, signed, key, signature)
}

interface Pss {
  readonly hash: string
  readonly saltLength: number
}

/** RSASSA-PSS-params (RFC 8017, A.2.3). What they leave out means SHA-1, which we do not take. */
function readPss(der: Uint8Array, rest: Pick<DerElement, 'start' | 'end'>): Pss | undefined {
  const params = readDer(der, rest.start, rest.end)
  const fields = params && readDerSequence(der, params, [0xa0, 0xa1, 0xa2])
  const [hashField, mgfField, saltField] = fields ?? []
  if (hashField === undefined || mgfField === undefined || saltField === undefined) return undefined
  const hash = readHash(der, hashField)
  const [mgf] = readDerSequence(der, mgfField, [sequence]) ?? []
  const [mgfName] = (mgf && readDerAll(der, mgf)) ?? []
  const mgfHash = mgfName && mgf && readHash(der, { start: mgfName.end, end: mgf.end })
  const [salt] = readDerSequence(der, saltField, [integer]) ?? []
  if (hash === undefined || hash !== mgfHash || salt === undefined) return undefined
  if (mgfName === undefined || hexOf(der, mgfName) !== MGF1 || salt.end !== salt.start + 1) {
    return undefined
  }
  return { hash, saltLength: der[salt.start] ?? 0 }
}

/** Of an AlgorithmIdentifier. */
function readHash(der: Uint8Array, at: Pick<DerElement, 'start' | 'end'>): string | undefined {
  const [identifier] = readDerSequence(der, at, [sequence]) ?? []
  const [name] = (identifier && readDerSequence(der, identifier, [objectIdentifier])) ?? []
  return name && HASHES.get(hexOf(der, name))
}

function hexOf(der: Uint8Array, element: DerElement): string {
  return contentOf(der, element).toString('hex')
}
