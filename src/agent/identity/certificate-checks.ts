// What the hub hands out is checked before it is used: for our key, our name, our root, now.

import type { Certificate } from '../../pki/certificates.ts'
import { parseCertificatesPem } from '../../pki/certificates.ts'
import { findIssuedCertificateFault } from '../../pki/issued-certificate.ts'
import type { Identity } from './identity.ts'

/** How far ahead of the agent's clock the issuer's clock may be. */
export const CLOCK_SKEW_MS_MAX = 10 * 60_000

export type CheckedCertificate =
  | { readonly ok: true; readonly leaf: Certificate; readonly pem: string }
  | { readonly ok: false; readonly fault: string }

/** A certificate issued to the host of `identity`; its chain must lead to the root that the agent already trusts. */
export function checkIssuedCertificate(
  pem: string,
  publicKeySpki: Buffer,
  identity: Identity,
  now: Date,
  { isCommonNameOptional = false } = {},
): CheckedCertificate {
  const chain = parseChain(pem)
  const [leaf] = chain ?? []
  if (chain === undefined || leaf === undefined) return { ok: false, fault: 'it cannot be parsed' }
  const fault = findIssuedCertificateFault(chain, {
    publicKeySpki,
    commonName: identity.hostname,
    isCommonNameOptional,
    roots: identity.roots,
    now,
    clockSkewMsMax: CLOCK_SKEW_MS_MAX,
  })
  if (fault !== undefined) return { ok: false, fault }
  return { ok: true, leaf, pem: chain.map((certificate) => certificate.pem).join('') }
}

function parseChain(pem: string): Certificate[] | undefined {
  try {
    return parseCertificatesPem(pem)
  } catch {
    // OpenSSL's words for bytes that are not a certificate are of no help.
    return undefined
  }
}
