// A small CA for the fake hub: root, intermediate, leaves. It signs whatever it is told to.

import 'reflect-metadata'
import { randomBytes, webcrypto } from 'node:crypto'
import {
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  Pkcs10CertificateRequest,
  SubjectAlternativeNameExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'

const EC = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const SERVER_AND_CLIENT = ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']

export interface FakeCa {
  readonly rootPem: string
  readonly intermediatePem: string
  /** Leaf and intermediate for the key of a CSR. */
  sign(csrPem: string, options: LeafOptions): Promise<string>
  /** A server certificate with its key. */
  issueServer(name: string): Promise<{ certificatePem: string; keyPem: string }>
}

export interface LeafOptions {
  readonly commonName: string
  readonly notBefore: Date
  readonly notAfter: Date
  /** Another key than the one in the CSR. */
  readonly withForeignKey?: boolean
}

export async function createFakeCa(): Promise<FakeCa> {
  const rootKeys = await generateKeys()
  const root = await createCa('CN=fake root', rootKeys, 'CN=fake root', rootKeys.privateKey)
  const keys = await generateKeys()
  const intermediate = await createCa(
    'CN=fake intermediate',
    keys,
    root.subject,
    rootKeys.privateKey,
  )

  async function createLeaf(
    publicKey: webcrypto.CryptoKey,
    { commonName, notBefore, notAfter }: LeafOptions,
  ): Promise<string> {
    const isAddress = /^[\d.]+$/.test(commonName)
    const leaf = await X509CertificateGenerator.create({
      serialNumber: serialNumber(),
      subject: `CN=${commonName}`,
      issuer: intermediate.subject,
      notBefore,
      notAfter,
      publicKey,
      signingKey: keys.privateKey,
      signingAlgorithm: EC,
      extensions: [
        new ExtendedKeyUsageExtension(SERVER_AND_CLIENT),
        new SubjectAlternativeNameExtension([
          { type: isAddress ? 'ip' : 'dns', value: commonName },
        ]),
      ],
    })
    return `${leaf.toString('pem')}\n${intermediate.toString('pem')}\n`
  }

  return {
    rootPem: `${root.toString('pem')}\n`,
    intermediatePem: `${intermediate.toString('pem')}\n`,
    async sign(csrPem, options) {
      const csr = new Pkcs10CertificateRequest(csrPem)
      const publicKey =
        options.withForeignKey === true
          ? (await generateKeys()).publicKey
          : await csr.publicKey.export(EC, ['verify'])
      return createLeaf(publicKey, options)
    },
    async issueServer(name) {
      const serverKeys = await generateKeys()
      const now = Date.now()
      const certificatePem = await createLeaf(serverKeys.publicKey, {
        commonName: name,
        notBefore: new Date(now - 60_000),
        notAfter: new Date(now + 86_400_000),
      })
      const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', serverKeys.privateKey))
      const keyPem = `-----BEGIN PRIVATE KEY-----\n${pkcs8.toString('base64')}\n-----END PRIVATE KEY-----\n`
      return { certificatePem, keyPem }
    },
  }
}

async function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(EC, true, ['sign', 'verify'])
}

async function createCa(
  subject: string,
  { publicKey }: webcrypto.CryptoKeyPair,
  issuer: string,
  signingKey: webcrypto.CryptoKey,
): Promise<X509Certificate> {
  const now = Date.now()
  return X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject,
    issuer,
    notBefore: new Date(now - 86_400_000),
    notAfter: new Date(now + 30 * 86_400_000),
    publicKey,
    signingKey,
    signingAlgorithm: EC,
    extensions: [new BasicConstraintsExtension(true, undefined, true)],
  })
}

/** Positive, and without a leading zero byte. */
function serialNumber(): string {
  const bytes = randomBytes(16)
  bytes[0] = 0x40 | ((bytes[0] ?? 0) & 0x3f)
  return bytes.toString('hex')
}
