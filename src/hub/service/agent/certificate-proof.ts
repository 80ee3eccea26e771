// Method x5c: a JWS (RFC 7515) by the key of a certificate that the host has already, with that certificate and its chain.
// docs/protocol.md JNR-26.

import { X509Certificate } from 'node:crypto'
import { compactVerify, decodeProtectedHeader } from 'jose'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { type Certificate, fromX509 } from '../../../pki/certificates.ts'
import { HOST_CHAIN_MAX, verifyHostChain } from '../../../pki/host-chain.ts'
import { readCertificateNames } from '../../../pki/certificate-fields.ts'
import { certifiedKeyTypeOf } from '../../../pki/public-key-bounds.ts'
import { CERTIFICATE_PROOF_TYPE } from '../../../protocol/host-proof.ts'
import { lookUpKeyOfName } from '../../domain/host-proof.ts'
import { parseStatement } from '../../domain/host-statement.ts'
import type { ProofVerdict, ReadProof } from './proof-joins.ts'

const ALGORITHMS = ['ES256', 'ES384', 'EdDSA', 'PS256'] as const

/** Nothing else: no key and no place of keys that the proof brings itself. */
const header = Compile(
  Type.Object(
    {
      typ: Type.Literal(CERTIFICATE_PROOF_TYPE),
      alg: Type.Enum([...ALGORITHMS]),
      x5c: Type.Array(Type.String(), { minItems: 1, maxItems: HOST_CHAIN_MAX }),
    },
    { additionalProperties: false },
  ),
)

export const readCertificateProof: ReadProof = (parts) => {
  const [, payload = ''] = parts
  const statement = parseStatement(Buffer.from(payload, 'base64url'))
  const chain = parts.length === 3 ? readChain(parts.join('.')) : undefined
  const [leaf] = chain ?? []
  if (statement === undefined || chain === undefined || leaf === undefined) return undefined
  return {
    statement,
    lookUpKeys: chain.flatMap(({ x509 }) => {
      const issuer = readCertificateNames(x509.raw)?.issuer
      return issuer === undefined ? [] : [lookUpKeyOfName(issuer)]
    }),
    findSignatureFault: () => findSignatureFault(leaf, parts.join('.')),
    judge: ({ proof }, { hostname, now }) => {
      const authorities = proof.method === 'x5c' ? proof.authorities : []
      const verdict = verifyHostChain(chain, authorities.map(parseBase64), now)
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

function readChain(jws: string): Certificate[] | undefined {
  try {
    const said: unknown = decodeProtectedHeader(jws)
    if (!header.Check(said)) return undefined
    return said.x5c.map(parseBase64)
  } catch {
    return undefined
  }
}

function parseBase64(text: string): Certificate {
  return fromX509(new X509Certificate(Buffer.from(text, 'base64')))
}

async function findSignatureFault(
  { x509, publicKeySpki }: Certificate,
  jws: string,
): Promise<string | undefined> {
  // Before OpenSSL sees the key: a stranger made it.
  if (certifiedKeyTypeOf(publicKeySpki) === undefined) {
    return 'a key that is not P-256, P-384, Ed25519 or RSA of 2048 to 4096 bits'
  }
  try {
    await compactVerify(jws, x509.publicKey, { algorithms: [...ALGORITHMS] })
    return undefined
  } catch {
    return 'not signed by the key of the certificate'
  }
}
