// A maker of TPMs: a CA that certifies endorsement keys as the TCG has it, or otherwise where a test wants that.

import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import {
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'

const EC = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const RSA = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } as const
const EK_PURPOSE = '2.23.133.8.1'
const BEGIN = new Date('2020-01-01T00:00:00Z')
/** As makers write that it does not end. */
const NEVER = new Date('9999-12-31T23:59:59Z')

export interface TpmMaker {
  readonly name: string
  readonly pem: string
  /** Of an EK, in base64: DER. */
  certify(spki: Buffer, form?: EkCertificateForm): Promise<string>
}

export interface EkCertificateForm {
  readonly purposes?: readonly string[]
  readonly notAfter?: Date
  readonly isCa?: boolean
  /** Characters of the model. */
  readonly model?: string
}

/** Two of the same name are two makers, one of which pretends. */
export async function createTpmMaker(name = 'CN=TPM maker'): Promise<TpmMaker> {
  const keys = await webcrypto.subtle.generateKey(EC, true, ['sign', 'verify'])
  const ca = await X509CertificateGenerator.create({
    serialNumber: '01',
    subject: name,
    issuer: name,
    notBefore: BEGIN,
    notAfter: NEVER,
    publicKey: keys.publicKey,
    signingKey: keys.privateKey,
    signingAlgorithm: EC,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
    ],
  })
  return {
    name,
    pem: `${ca.toString('pem')}\n`,
    certify: async (spki, form = {}) => {
      const { purposes = [EK_PURPOSE], notAfter = NEVER, isCa = false, model = 'fake' } = form
      const platform = [
        { type: 'dn', value: `2.23.133.2.1=id:00000000,2.23.133.2.2=${model}` },
      ] as const
      const certificate = await X509CertificateGenerator.create({
        serialNumber: '02',
        issuer: name,
        notBefore: BEGIN,
        notAfter,
        publicKey: await webcrypto.subtle.importKey('spki', spki, RSA, true, ['verify']),
        signingKey: keys.privateKey,
        signingAlgorithm: EC,
        extensions: [
          new BasicConstraintsExtension(isCa, undefined, true),
          ...(purposes.length > 0 ? [new ExtendedKeyUsageExtension([...purposes])] : []),
          new SubjectAlternativeNameExtension([...platform], true),
          new KeyUsagesExtension(
            isCa ? KeyUsageFlags.keyCertSign : KeyUsageFlags.keyEncipherment,
            true,
          ),
        ],
      })
      return Buffer.from(certificate.rawData).toString('base64')
    },
  }
}
