// Whether what a CA sent is what it was asked for, whichever kind of CA it is. docs/protocol.md CAX-12.

import { UserError } from '../../platform/errors.ts'
import { type Certificate, parseCertificatesPem } from '../../pki/certificates.ts'
import { findIssuedCertificateFault, findRootOf } from '../../pki/issued-certificate.ts'
import { CaError, type SignedCertificate, type SignRequest } from './certificate-authority.ts'

const CLOCK_SKEW_MS_MAX = 60_000
/** How much of that an issuer hides that backdates its certificates, when its clock is ahead of the hub's. */
const ISSUER_BACKDATE_MS = 60_000

/** Leaf first. Throws CaError for anything but what was asked for. */
export function checkChain(
  chain: readonly Certificate[],
  { csr, commonName, sans, lifetimeSeconds }: SignRequest,
  roots: readonly Certificate[],
  now: Date,
  { isCommonNameOptional = false } = {},
): SignedCertificate {
  const [leaf, ...rest] = chain
  const fault =
    findIssuedCertificateFault(chain, {
      publicKeySpki: csr.publicKeySpki,
      commonName,
      isCommonNameOptional,
      sans,
      roots,
      now,
      clockSkewMsMax: CLOCK_SKEW_MS_MAX,
    }) ?? findLifetimeFault(leaf, lifetimeSeconds, now)
  if (leaf === undefined || fault !== undefined) {
    const message = `the CA sent an unexpected answer: ${fault}`
    // A certificate for another key is the answer to another request: it may be in use, and what was signed for this one is lost.
    const isOurs = leaf?.publicKeySpki.equals(csr.publicKeySpki) === true
    throw new CaError('wrong_certificate', message, { leaf: isOurs ? leaf : undefined })
  }
  // A root in the chain is of no use: who trusts it has it.
  const intermediates = rest.filter(({ sha256 }) => roots.every((root) => root.sha256 !== sha256))
  return {
    leaf,
    intermediates,
    chainPem: [leaf, ...intermediates].map(({ pem }) => pem).join(''),
    rootSha256: findRootOf(chain, roots)?.sha256,
  }
}

/** A shorter life than was asked for does no harm; a longer one is not what was asked for. */
function findLifetimeFault(
  leaf: Certificate | undefined,
  lifetimeSeconds: number | undefined,
  now: Date,
): string | undefined {
  if (leaf === undefined || lifetimeSeconds === undefined) return undefined
  const lateMs = leaf.notAfter.getTime() - now.getTime() - lifetimeSeconds * 1000
  return lateMs > CLOCK_SKEW_MS_MAX + ISSUER_BACKDATE_MS
    ? `the certificate is valid until ${leaf.notAfter.toISOString()}, and the hub asked for ${lifetimeSeconds} s`
    : undefined
}

export function parseRoots(rootPem: string): readonly Certificate[] {
  const roots = parseCertificatesPem(rootPem)
  if (roots.length > 0) return roots
  throw new UserError('no_root', 'the root CA file holds no PEM certificate')
}
