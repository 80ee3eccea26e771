import { createPrivateKey } from 'node:crypto'
import { describeError, UserError } from '../../platform/errors.ts'
import { type Certificate, parseCertificatesPem } from '../../pki/certificates.ts'
import { HOST_CHAIN_MAX } from '../../pki/host-chain.ts'
import { parsePrivateKeyPem, type PrivateKey } from '../../pki/keys.ts'
import { certifiedKeyTypeOf } from '../../pki/public-key-bounds.ts'
import { CERTIFICATE_PROOF_TYPE, formatProof } from '../../protocol/host-proof.ts'
import type { HostKey } from './host-key.ts'

export interface CertificateFiles {
  readonly certificatePath: string
  readonly certificatePem: string
  readonly keyPath: string
  readonly keyPem: string
}

/** Method x5c: a certificate that this host has of another PKI, and its key. Throws a UserError that says what is wrong. */
export function readCertificateHostKey(files: CertificateFiles): HostKey {
  const chain = readChain(files)
  const key = readKey(files)
  if (chain[0]?.publicKeySpki.equals(key.publicKeySpki) !== true) {
    throw new UserError(
      'host_key_invalid',
      `${files.keyPath} is not the key of the first certificate in ${files.certificatePath}`,
      { hint: 'the certificate of the host comes first, those of its CAs after it' },
    )
  }
  const alg = algorithmOf(key, files.keyPath)
  const x5c = chain.map(({ x509 }) => x509.raw.toString('base64'))
  return {
    method: 'x5c',
    prove: async (statement) => {
      // Enrolments are rare, and the library stays in memory.
      const { CompactSign } = await import('jose')
      const jws = await new CompactSign(statement)
        .setProtectedHeader({ typ: CERTIFICATE_PROOF_TYPE, alg, x5c })
        .sign(key.keyObject)
      return formatProof('x5c', jws.split('.'))
    },
  }
}

function readChain({ certificatePath, certificatePem }: CertificateFiles): Certificate[] {
  let chain: Certificate[] = []
  try {
    chain = parseCertificatesPem(certificatePem)
  } catch {
    // Said below.
  }
  if (chain.length === 0) {
    throw new UserError('host_key_invalid', `${certificatePath} has no certificate in PEM`)
  }
  // What is above is the hub's to have.
  return chain.slice(0, HOST_CHAIN_MAX)
}

function readKey({ keyPath, keyPem }: CertificateFiles): PrivateKey {
  if (/ENCRYPTED/.test(keyPem)) {
    throw new UserError('host_key_invalid', `the key in ${keyPath} is encrypted`, {
      hint: 'nobody is there to type its passphrase when a host enrols: openssl pkey -in <file> -out <file> writes it without one',
    })
  }
  try {
    // An OpenSSH key is PEM too, by its look, and gives OpenSSL's words.
    createPrivateKey(keyPem)
    return parsePrivateKeyPem(keyPem)
  } catch (error) {
    throw new UserError('host_key_invalid', `${keyPath} has no private key in PEM`, {
      cause: error,
      hint: `${describeError(error)}; PKCS#8, PKCS#1 and SEC1 can be read`,
    })
  }
}

function algorithmOf({ publicKeySpki, keyObject }: PrivateKey, path: string): string {
  switch (certifiedKeyTypeOf(publicKeySpki)) {
    case 'ed25519':
      return 'EdDSA'
    case 'rsa':
      return 'PS256'
    case 'ec':
      return keyObject.asymmetricKeyDetails?.namedCurve === 'secp384r1' ? 'ES384' : 'ES256'
    default:
      throw new UserError(
        'host_key_invalid',
        `the key in ${path} is not P-256, P-384, Ed25519 or RSA of 2048 to 4096 bits`,
      )
  }
}
