// Method x5c: a JWS (RFC 7515) by the key of a certificate that the host has already, with that certificate and its chain.
// docs/protocol.md JNR-26.

import { constants, verify, X509Certificate } from 'node:crypto'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { type Certificate, fromX509 } from '../../../pki/certificates.ts'
import { findChainFault } from '../../../pki/chain-bounds.ts'
import { createIssuerCheck, HOST_CHAIN_MAX, verifyHostChain } from '../../../pki/host-chain.ts'
import { readCertificateNames } from '../../../pki/certificate-fields.ts'
import { certifiedKeyTypeOf } from '../../../pki/public-key-bounds.ts'
import { CERTIFICATE_PROOF_TYPE } from '../../../protocol/host-proof.ts'
import { lookUpKeyOfName } from '../../domain/host-proof.ts'
import { parseStatement } from '../../domain/host-statement.ts'
import type { ProofVerdict, ReadProof } from './proof-joins.ts'

/** With the key that each is for, in OpenSSL's words, and the rest as RFC 7518 and RFC 8037 have it. */
const ALGORITHMS = {
  ES256: { key: 'prime256v1', digest: 'sha256', dsaEncoding: 'ieee-p1363' },
  ES384: { key: 'secp384r1', digest: 'sha384', dsaEncoding: 'ieee-p1363' },
  EdDSA: { key: 'ed25519', digest: null },
  PS256: {
    key: 'rsa',
    digest: 'sha256',
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
  },
} as const
type Algorithm = keyof typeof ALGORITHMS

/** Nothing else: no key and no place of keys that the proof brings itself. */
const header = Compile(
  Type.Object(
    {
      typ: Type.Literal(CERTIFICATE_PROOF_TYPE),
      alg: Type.Enum(Object.keys(ALGORITHMS) as Algorithm[]),
      x5c: Type.Array(Type.String(), { minItems: 1, maxItems: HOST_CHAIN_MAX }),
    },
    { additionalProperties: false },
  ),
)

export const readCertificateProof: ReadProof = (parts) => {
  const [protectedHeader = '', payload = '', signature = ''] = parts
  const statement = parseStatement(Buffer.from(payload, 'base64url'))
  const shown = parts.length === 3 ? readHeader(protectedHeader) : undefined
  if (statement === undefined || shown === undefined) return undefined
  const { algorithm, chain, leaf } = shown
  const isIssuedBy = createIssuerCheck()
  const parseAuthority = createParser()
  return {
    statement,
    lookUpKeys: chain.flatMap(({ x509 }) => {
      const issuer = readCertificateNames(x509.raw)?.issuer
      return issuer === undefined ? [] : [lookUpKeyOfName(issuer)]
    }),
    // Before OpenSSL uses a key: a stranger made them all.
    findSignatureFault: () =>
      findChainFault(chain.map(({ x509 }) => x509.raw)) ??
      findSignatureFault(leaf, {
        algorithm,
        input: Buffer.from(`${protectedHeader}.${payload}`),
        signature: Buffer.from(signature, 'base64url'),
      }),
    judge: ({ proof }, { hostname, now }) => {
      const authorities = proof.method === 'x5c' ? proof.authorities : []
      const verdict = verifyHostChain(chain, authorities.map(parseAuthority), { now, isIssuedBy })
      if (!verdict.ok) return refuse('certificate', verdict.fault)
      if (!verdict.dnsNames.includes(hostname)) {
        return refuse('proof_name', 'not among the DNS names of the certificate')
      }
      return {
        ok: true,
        said: { certificate_sha256: leaf.sha256, ca_sha256: verdict.authority.sha256 },
      }
    },
  }
}

function refuse(fault: 'certificate' | 'proof_name', detail: string): ProofVerdict {
  return { ok: false, fault, detail }
}

interface ShownHeader {
  readonly algorithm: Algorithm
  readonly chain: readonly Certificate[]
  readonly leaf: Certificate
}

function readHeader(text: string): ShownHeader | undefined {
  try {
    const said: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    if (!header.Check(said)) return undefined
    const chain = said.x5c.map(parseBase64)
    const [leaf] = chain
    return leaf && { algorithm: said.alg, chain, leaf }
  } catch {
    return undefined
  }
}

function parseBase64(text: string): Certificate {
  return fromX509(new X509Certificate(Buffer.from(text, 'base64')))
}

/** For one request: rules have the same CAs. */
function createParser(): (text: string) => Certificate {
  const parsed = new Map<string, Certificate>()
  return (text) => {
    const certificate = parsed.get(text) ?? parseBase64(text)
    parsed.set(text, certificate)
    return certificate
  }
}

interface Signed {
  readonly algorithm: Algorithm
  readonly input: Buffer
  readonly signature: Buffer
}

/** Without waiting for anything, so that the stranger's turn is charged for it. docs/protocol.md LIM-24. */
function findSignatureFault(
  { x509, publicKeySpki }: Certificate,
  { algorithm, input, signature }: Signed,
): string | undefined {
  if (certifiedKeyTypeOf(publicKeySpki) === undefined) {
    return 'a key that is not P-256, P-384, Ed25519 or RSA of 2048 to 4096 bits'
  }
  const { key: kind, digest, ...form } = ALGORITHMS[algorithm]
  const unsigned = 'not signed by the key of the certificate'
  try {
    const key = x509.publicKey
    const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key
    if ((details?.namedCurve ?? type) !== kind) return unsigned
    return verify(digest, input, { key, ...form }, signature) ? undefined : unsigned
  } catch {
    return unsigned
  }
}
