// Certificates (RFC 5280) as step-ca's default templates make them: EC P-256 issuers, leaves for TLS servers and clients.

import 'reflect-metadata'
import { randomBytes, type webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PublicKey,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'
import type { PrivateKey } from '../pki/keys.ts'

/** What a leaf says about its subject; everything else is the same for all leaves. */
export interface LeafRequest {
  readonly publicKeySpki: Buffer
  readonly commonName: string
  readonly sans: readonly string[]
  readonly notBefore: Date
  readonly notAfter: Date
}

/** A certificate with its private key, ready to sign others. */
export interface Issuer {
  readonly certificatePem: string
  issueLeaf(request: LeafRequest): Promise<string>
  /** An issuer below this one that signs leaves only. */
  issueIntermediate(request: IssuerRequest): Promise<string>
}

export interface IssuerRequest {
  readonly commonName: string
  readonly publicKeySpki: Buffer
  readonly notBefore: Date
  readonly notAfter: Date
}

const EC_P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const SERIAL_BYTES = 16

/** A self-signed certificate that may sign one level of intermediates. PEM. */
export async function createRootPem(
  request: Omit<IssuerRequest, 'publicKeySpki'>,
  key: PrivateKey,
): Promise<string> {
  const publicKey = new PublicKey(key.publicKeySpki)
  return signCertificate({
    subject: [{ CN: [request.commonName] }],
    issuer: [{ CN: [request.commonName] }],
    notBefore: request.notBefore,
    notAfter: request.notAfter,
    publicKey,
    signingKey: importSigningKey(key),
    serialHex: randomSerialHex(),
    extensions: [...issuerExtensions(1), await SubjectKeyIdentifierExtension.create(publicKey)],
  })
}

export async function createIssuer(
  certificatePem: string,
  key: PrivateKey,
  nextSerialHex: () => string = randomSerialHex,
): Promise<Issuer> {
  const certificate = new X509Certificate(certificatePem)
  const signingKey = importSigningKey(key)
  const authorityKeyIdentifier = await AuthorityKeyIdentifierExtension.create(certificate.publicKey)
  const issue = async (
    commonName: string,
    publicKey: PublicKey,
    validity: { readonly notBefore: Date; readonly notAfter: Date },
    extensions: readonly Extension[],
  ): Promise<string> =>
    signCertificate({
      subject: [{ CN: [commonName] }],
      issuer: certificate.subjectName.toJSON(),
      notBefore: validity.notBefore,
      notAfter: validity.notAfter,
      publicKey,
      signingKey,
      serialHex: nextSerialHex(),
      extensions: [
        ...extensions,
        await SubjectKeyIdentifierExtension.create(publicKey),
        authorityKeyIdentifier,
      ],
    })
  return {
    certificatePem,
    issueLeaf: (request) => {
      const publicKey = new PublicKey(request.publicKeySpki)
      return issue(request.commonName, publicKey, request, leafExtensions(publicKey, request.sans))
    },
    issueIntermediate: (request) =>
      issue(request.commonName, new PublicKey(request.publicKeySpki), request, issuerExtensions(0)),
  }
}

interface CertificateContent {
  readonly subject: { CN: string[] }[]
  readonly issuer: NonNullable<Parameters<typeof X509CertificateGenerator.create>[0]['issuer']>
  readonly notBefore: Date
  readonly notAfter: Date
  readonly publicKey: PublicKey
  readonly signingKey: webcrypto.CryptoKey
  readonly serialHex: string
  readonly extensions: Extension[]
}

async function signCertificate({ serialHex, ...content }: CertificateContent): Promise<string> {
  const certificate = await X509CertificateGenerator.create({
    ...content,
    serialNumber: serialHex,
    signingAlgorithm: EC_P256,
  })
  return `${certificate.toString('pem')}\n`
}

function importSigningKey(key: PrivateKey): webcrypto.CryptoKey {
  return key.keyObject.toCryptoKey(EC_P256, false, ['sign'])
}

/** Positive and without a leading zero byte, so that its hex is the same in every program. */
function randomSerialHex(): string {
  const bytes = randomBytes(SERIAL_BYTES)
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x01, 0)
  return bytes.toString('hex')
}

function issuerExtensions(pathLength: number): Extension[] {
  return [
    new BasicConstraintsExtension(true, pathLength, true),
    new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
  ]
}

function leafExtensions(publicKey: PublicKey, sans: readonly string[]): Extension[] {
  const isRsa = publicKey.algorithm.name.startsWith('RSA')
  return [
    isRsa
      ? new KeyUsagesExtension(KeyUsageFlags.digitalSignature | KeyUsageFlags.keyEncipherment, true)
      : new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
    new SubjectAlternativeNameExtension(
      sans.map((name) => ({ type: isIP(name) === 0 ? 'dns' : 'ip', value: name })),
    ),
  ]
}
