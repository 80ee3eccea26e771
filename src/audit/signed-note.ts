// Texts with Ed25519 signatures, as c2sp.org/signed-note has them: the text, an empty line, a line for each signature.

import { createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto'

export interface NoteVerifier {
  /** Without spaces and plus signs. */
  readonly name: string
  /** The first four bytes of the SHA-256 of name, line break, the byte that says what the key is for, and the key. */
  readonly keyHash: Buffer
  readonly publicKey: KeyObject
}

export interface NoteSigner extends NoteVerifier {
  readonly privateKey: KeyObject
}

/** A text that is signed by all keys that were asked for, and by whom else. */
export interface OpenedNote {
  /** Ends with a line break. */
  readonly text: string
  readonly signers: readonly NoteVerifier[]
}

interface KeyType {
  /** The byte before the key. */
  readonly type: number
  readonly keyBytes: number
  /** What SubjectPublicKeyInfo has before the key: RFC 8410, RFC 9881. */
  readonly spkiPrefix: Buffer
}

const ED25519: KeyType = {
  type: 1,
  keyBytes: 32,
  spkiPrefix: Buffer.from('302a300506032b6570032100', 'hex'),
}
/** c2sp.org/tlog-cosignature: Ed25519, and ML-DSA-44. */
const COSIGNATURES: readonly KeyType[] = [
  { ...ED25519, type: 4 },
  {
    type: 6,
    keyBytes: 1312,
    spkiPrefix: Buffer.from('30820532300b06096086480165030403110382052100', 'hex'),
  },
]
const KEY_HASH_BYTES = 4
const NAME = /^[^\s+]+$/u
/** c2sp.org/tlog-cosignature has its length in one byte. */
const NAME_BYTES_MAX = 255
/** A longer text is no note, and nobody has to read it. */
const NOTE_CHARACTERS_MAX = 65_536
const SIGNATURES_MAX = 100

export function noteVerifier(name: string, publicKey: KeyObject): NoteVerifier {
  return { name, publicKey, keyHash: hashKey(name, typedKeyOf(publicKey)) }
}

export function noteSigner(name: string, privateKey: KeyObject): NoteSigner {
  return { ...noteVerifier(name, createPublicKey(privateKey)), privateKey }
}

/** `text` ends with a line break. */
export function signNote(text: string, { name, keyHash, privateKey }: NoteSigner): string {
  const signature = Buffer.concat([keyHash, sign(null, Buffer.from(text), privateKey)])
  return `${text}\n— ${name} ${signature.toString('base64')}\n`
}

/** One line of a note: nothing of it is checked. */
export interface NoteSignature {
  readonly line: string
  readonly name: string
  readonly keyHash: Buffer
  /** Without the hash of the key. */
  readonly bytes: Buffer
}

/** Undefined when it is no note. */
export function parseNote(
  note: string,
): { readonly text: string; readonly signatures: readonly NoteSignature[] } | undefined {
  if (note.length > NOTE_CHARACTERS_MAX || !note.endsWith('\n')) return undefined
  const split = note.lastIndexOf('\n\n')
  if (split < 0) return undefined
  const text = note.slice(0, split + 1)
  const lines = note.slice(split + 2, -1).split('\n')
  if (lines.length > SIGNATURES_MAX || hasControls(text)) return undefined
  const signatures = lines.flatMap((line) => parseSignature(line) ?? [])
  return signatures.length === lines.length ? { text, signatures } : undefined
}

export function isSignatureOf({ name, keyHash }: NoteSignature, signer: NoteVerifier): boolean {
  return signer.name === name && signer.keyHash.equals(keyHash)
}

/** Undefined when it is no note, when no known key has signed it, or when a known key's signature is wrong. */
export function openNote(note: string, known: readonly NoteVerifier[]): OpenedNote | undefined {
  const parsed = parseNote(note)
  if (parsed === undefined) return undefined
  const { text } = parsed
  const signers: NoteVerifier[] = []
  for (const signature of parsed.signatures) {
    const signer = known.find((one) => isSignatureOf(signature, one))
    if (signer === undefined || signers.includes(signer)) continue
    if (!verify(null, Buffer.from(text), signer.publicKey, signature.bytes)) return undefined
    signers.push(signer)
  }
  return signers.length === 0 ? undefined : { text, signers }
}

/** `<name>+<hash of the key, hex>+<base64 of 0x01 and the key>`: what verifiers are told of a key. */
export function formatVerifierKey({ name, keyHash, publicKey }: NoteVerifier): string {
  return `${name}+${keyHash.toString('hex')}+${typedKeyOf(publicKey).toString('base64')}`
}

export function parseVerifierKey(text: string): NoteVerifier | undefined {
  return parseKey(text, [ED25519])
}

/** Of a witness, which signs checkpoints of others with the time: c2sp.org/tlog-cosignature. */
export function parseWitnessKey(text: string): NoteVerifier | undefined {
  return parseKey(text, COSIGNATURES)
}

function parseKey(text: string, types: readonly KeyType[]): NoteVerifier | undefined {
  const [name = '', keyHash = '', ...rest] = text.split('+')
  // The base64 may have a plus as well.
  const key = decodeBase64(rest.join('+'))
  const known = types.find(({ type, keyBytes }) => key?.[0] === type && key.length === 1 + keyBytes)
  const isNamed = NAME.test(name) && Buffer.byteLength(name) <= NAME_BYTES_MAX
  if (!isNamed || key === undefined || known === undefined) return undefined
  const made = hashKey(name, key)
  if (made.toString('hex') !== keyHash) return undefined
  const der = Buffer.concat([known.spkiPrefix, key.subarray(1)])
  const publicKey = createPublicKey({ key: der, format: 'der', type: 'spki' })
  return { name, keyHash: made, publicKey }
}

function parseSignature(line: string): NoteSignature | undefined {
  const [dash, name = '', base64 = '', ...more] = line.split(' ')
  const bytes = decodeBase64(base64)
  if (dash !== '—' || !NAME.test(name) || more.length > 0) return undefined
  if (bytes === undefined || bytes.length <= KEY_HASH_BYTES) return undefined
  const keyHash = bytes.subarray(0, KEY_HASH_BYTES)
  return { line, name, keyHash, bytes: bytes.subarray(KEY_HASH_BYTES) }
}

/** Node would read past anything that is no base64. */
function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}

function hasControls(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- They are what it is about.
  return /[\0-\x09\x0b-\x1f]/.test(text)
}

function hashKey(name: string, typedKey: Buffer): Buffer {
  const bytes = Buffer.concat([Buffer.from(`${name}\n`), typedKey])
  return hash('sha256', bytes, 'buffer').subarray(0, KEY_HASH_BYTES)
}

function typedKeyOf(publicKey: KeyObject): Buffer {
  const { type, spkiPrefix } = ED25519
  const der = publicKey.export({ format: 'der', type: 'spki' })
  return Buffer.concat([Buffer.of(type), der.subarray(spkiPrefix.length)])
}
