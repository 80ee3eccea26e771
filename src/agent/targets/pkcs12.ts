// PKCS#12 (RFC 7292) in what OpenSSL, Java and Node all read: PBES2 with AES-256-CBC, and a SHA-256 MAC.

import { hash } from 'node:crypto'
import {
  Attribute,
  AuthenticatedSafe,
  CertBag,
  Certificate as CertificateSchema,
  id_CertBag_X509Certificate as X509_CERTIFICATE,
  PFX,
  PKCS8ShroudedKeyBag,
  PrivateKeyInfo,
  SafeBag,
  SafeContents,
} from 'pkijs'
import { SvcError } from '../../platform/errors.ts'
import { type Certificate, parseCertificatePem } from '../../pki/certificates.ts'
import { parsePrivateKeyPem } from '../../pki/keys.ts'
import type { PairMaterial } from './render-content.ts'

const ITERATIONS = 100_000
const PASSWORD_LENGTH_MAX = 1024
/** Java's keytool reads no other, and the standards differ on how any other is written. */
const PASSWORD = /^[\x20-\x7e]+$/

const SHROUDED_KEY_BAG = '1.2.840.113549.1.12.10.1.2'
const CERTIFICATE_BAG = '1.2.840.113549.1.12.10.1.3'

const INTEGRITY_BY_PASSWORD = 0
const NOT_ENCRYPTED = 0
const ENCRYPTED_BY_PASSWORD = 1

/** Key, leaf and intermediates. Another text each time, since salts are new. */
export async function encodePkcs12(material: PairMaterial, password: string): Promise<Uint8Array> {
  const encryption = encryptionBy(password)
  const leaf = parseCertificatePem(material.leafPem)
  const chain = material.chainPems.map((pem) => parseCertificatePem(pem))
  const keyId = [localKeyId(leaf)]
  const shroudedKey = new PKCS8ShroudedKeyBag({ parsedValue: privateKeyInfo(material.keyPem) })
  await shroudedKey.makeInternalValues(encryption)
  const keyBag = new SafeBag({
    bagId: SHROUDED_KEY_BAG,
    bagValue: shroudedKey,
    bagAttributes: keyId,
  })
  const certificateBags = [certificateBag(leaf, keyId), ...chain.map((one) => certificateBag(one))]
  // The key is encrypted in its own bag; what else a reader would see without the password are its names.
  const authenticatedSafe = new AuthenticatedSafe({
    parsedValue: {
      safeContents: [
        { privacyMode: NOT_ENCRYPTED, value: new SafeContents({ safeBags: [keyBag] }) },
        {
          privacyMode: ENCRYPTED_BY_PASSWORD,
          value: new SafeContents({ safeBags: certificateBags }),
        },
      ],
    },
  })
  await authenticatedSafe.makeInternalValues({ safeContents: [{}, encryption] })
  const pfx = new PFX({
    parsedValue: { integrityMode: INTEGRITY_BY_PASSWORD, authenticatedSafe },
  })
  await pfx.makeInternalValues({
    password: encryption.password,
    iterations: ITERATIONS,
    pbkdf2HashAlgorithm: 'SHA-256',
    hmacHashAlgorithm: 'SHA-256',
  })
  return new Uint8Array(pfx.toSchema().toBER(false))
}

/** Why a password cannot be used, or undefined when it can. */
export function findPasswordFault(password: string): string | undefined {
  if (password === '') return 'the password is empty'
  if (password.length > PASSWORD_LENGTH_MAX) {
    return `the password has more than ${PASSWORD_LENGTH_MAX} characters`
  }
  return PASSWORD.test(password) ? undefined : 'the password has characters besides printable ASCII'
}

function encryptionBy(password: string) {
  const fault = findPasswordFault(password)
  if (fault !== undefined) throw new SvcError('password_unusable', fault)
  return {
    password: bytesOf(Buffer.from(password, 'ascii')),
    contentEncryptionAlgorithm: { name: 'AES-CBC', length: 256 },
    hmacHashAlgorithm: 'SHA-256',
    iterationCount: ITERATIONS,
  }
}

function privateKeyInfo(keyPem: string): PrivateKeyInfo {
  const { keyObject } = parsePrivateKeyPem(keyPem)
  return PrivateKeyInfo.fromBER(bytesOf(keyObject.export({ type: 'pkcs8', format: 'der' })))
}

function certificateBag({ x509 }: Certificate, bagAttributes: Attribute[] = []): SafeBag<CertBag> {
  const bagValue = new CertBag({
    certId: X509_CERTIFICATE,
    parsedValue: CertificateSchema.fromBER(bytesOf(x509.raw)),
  })
  return new SafeBag({ bagId: CERTIFICATE_BAG, bagValue, bagAttributes })
}

/** The same on key and leaf: by it a reader knows that they are a pair (RFC 2985, section 5.5.2). */
function localKeyId({ x509 }: Certificate): Attribute {
  const id = hash('sha1', x509.raw, 'buffer')
  return Attribute.fromBER(bytesOf(Buffer.concat([LOCAL_KEY_ID_OF_20_BYTES, id])))
}

/** SEQUENCE of the OID 1.2.840.113549.1.9.21 and a SET of one OCTET STRING, whose bytes follow. */
const LOCAL_KEY_ID_OF_20_BYTES = Buffer.from('302306092a864886f70d01091531160414', 'hex')

/** A buffer of Node's may be a part of a larger one. */
function bytesOf(buffer: Buffer): ArrayBuffer {
  return Uint8Array.from(buffer).buffer
}
