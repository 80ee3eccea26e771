// An authenticator in software, for tests: it makes the bytes that a security key makes, and others where it is told to misbehave. The
// browser's part, client data with the origin of the page, is here too.

import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { type CborValue, encodeCbor } from './cbor.ts'

export type KeyKind = 'ES256' | 'EdDSA' | 'RS256'

export interface Quirks {
  readonly origin?: string
  readonly rpId?: string
  readonly type?: string
  readonly crossOrigin?: boolean
  readonly challenge?: string
  readonly isPresent?: boolean
  readonly isVerified?: boolean
  readonly counter?: number
  /** In the place of its own id. */
  readonly id?: string
  /** Signed by that one, in its place. */
  readonly signer?: SoftwareAuthenticator
}

export interface RegistrationQuirks extends Quirks {
  readonly key?: CborValue
  readonly attestation?: { readonly fmt: string; readonly attStmt: CborValue }
}

interface CreationOptions {
  readonly challenge: string
  readonly rp: { readonly id: string }
}

interface RequestOptions {
  readonly challenge: string
  readonly rpId: string
}

const FLAGS = { isPresent: 0x01, isVerified: 0x04, hasCredential: 0x40 }

export class SoftwareAuthenticator {
  readonly id: string = randomBytes(16).toString('base64url')
  readonly #kind: KeyKind
  readonly #privateKey: KeyObject
  readonly #key: CborValue
  #counter = 0

  constructor(kind: KeyKind = 'ES256') {
    const { privateKey, publicKey } = newKeyPair(kind)
    this.#kind = kind
    this.#privateKey = privateKey
    this.#key = coseKeyOf(kind, publicKey)
  }

  create(options: unknown, origin: string, quirks: RegistrationQuirks = {}) {
    const { challenge, rp } = options as CreationOptions
    const id = quirks.id ?? this.id
    const credentialId = Buffer.from(id, 'base64url')
    const length = Buffer.alloc(2)
    length.writeUInt16BE(credentialId.length)
    const authData = Buffer.concat([
      this.#head(quirks.rpId ?? rp.id, quirks, FLAGS.hasCredential),
      Buffer.alloc(16),
      length,
      credentialId,
      encodeCbor(quirks.key ?? this.#key),
    ])
    const { fmt, attStmt } = quirks.attestation ?? { fmt: 'none', attStmt: new Map() }
    const attestationObject = encodeCbor(
      new Map<string, CborValue>([
        ['fmt', fmt],
        ['attStmt', attStmt],
        ['authData', authData],
      ]),
    )
    return {
      id,
      rawId: id,
      type: 'public-key' as const,
      clientExtensionResults: {},
      response: {
        clientDataJSON: clientDataOf('webauthn.create', challenge, origin, quirks),
        attestationObject: attestationObject.toString('base64url'),
        transports: ['usb'],
      },
    }
  }

  get(options: unknown, origin: string, quirks: Quirks = {}) {
    const { challenge, rpId } = options as RequestOptions
    const id = quirks.id ?? this.id
    this.#counter += 1
    const authenticatorData = this.#head(quirks.rpId ?? rpId, quirks, 0)
    const clientDataJSON = clientDataOf('webauthn.get', challenge, origin, quirks)
    const clientDataHash = createHash('sha256')
      .update(Buffer.from(clientDataJSON, 'base64url'))
      .digest()
    const signer = quirks.signer ?? this
    return {
      id,
      rawId: id,
      type: 'public-key' as const,
      clientExtensionResults: {},
      response: {
        clientDataJSON,
        authenticatorData: authenticatorData.toString('base64url'),
        signature: signer.#sign(Buffer.concat([authenticatorData, clientDataHash])).toString(
          'base64url',
        ),
      },
    }
  }

  #head(rpId: string, quirks: Quirks, more: number): Buffer {
    const { isPresent = true, isVerified = true, counter = this.#counter } = quirks
    const flags = more | (isPresent ? FLAGS.isPresent : 0) | (isVerified ? FLAGS.isVerified : 0)
    const rest = Buffer.alloc(5)
    rest.writeUInt8(flags)
    rest.writeUInt32BE(counter, 1)
    return Buffer.concat([createHash('sha256').update(rpId).digest(), rest])
  }

  #sign(data: Buffer): Buffer {
    return sign(this.#kind === 'EdDSA' ? null : 'sha256', data, this.#privateKey)
  }
}

function clientDataOf(type: string, challenge: string, origin: string, quirks: Quirks): string {
  const said = {
    type: quirks.type ?? type,
    challenge: quirks.challenge ?? challenge,
    origin: quirks.origin ?? origin,
    crossOrigin: quirks.crossOrigin ?? false,
  }
  return Buffer.from(JSON.stringify(said)).toString('base64url')
}

function newKeyPair(kind: KeyKind): { privateKey: KeyObject; publicKey: KeyObject } {
  if (kind === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' })
  if (kind === 'EdDSA') return generateKeyPairSync('ed25519')
  return generateKeyPairSync('rsa', { modulusLength: 2048 })
}

/** RFC 9053. */
function coseKeyOf(kind: KeyKind, key: KeyObject): CborValue {
  const { x = '', y = '', n = '', e = '' } = key.export({ format: 'jwk' })
  const bytes = (text: string): Buffer => Buffer.from(text, 'base64url')
  if (kind === 'ES256') {
    return new Map<number, CborValue>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ])
  }
  if (kind === 'EdDSA') {
    return new Map<number, CborValue>([
      [1, 1],
      [3, -8],
      [-1, 6],
      [-2, bytes(x)],
    ])
  }
  return new Map<number, CborValue>([
    [1, 3],
    [3, -257],
    [-1, bytes(n)],
    [-2, bytes(e)],
  ])
}
