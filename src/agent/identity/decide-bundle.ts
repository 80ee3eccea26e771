// Whether the roots that the hub offers may take the place of the roots that the agent trusts. docs/protocol.md TRU.

import { type Certificate, parseCertificatesPem } from '../../pki/certificates.ts'
import type { Bundle, BundleNumber } from '../hub/wire.ts'
import { decideOfferedTrust } from './decide-trust.ts'
import type { TrustDemand } from './trust-record.ts'

export interface BundleSituation {
  /** What is trusted now. */
  readonly roots: readonly Certificate[]
  /** Undefined when it is no set that was adopted. */
  readonly adopted: BundleNumber | undefined
  readonly offered: Bundle
  /** Undefined when roots need no signature. */
  readonly demand: TrustDemand | undefined
  readonly now: Date
}

/** `demand`: what is demanded once the set is adopted. */
export type BundleVerdict =
  | { readonly kind: 'same'; readonly demand: TrustDemand | undefined }
  | {
      readonly kind: 'adopt'
      readonly roots: readonly Certificate[]
      readonly demand: TrustDemand | undefined
    }
  | { readonly kind: 'refuse'; readonly reason: string }

/** A file of the identity holds more than this, and roots of the largest keys need less. */
const ROOTS_CHARACTERS_MAX = 512 * 1024

const NONE: BundleNumber = { epoch: 0, number: 0 }

export function decideBundle(situation: BundleSituation): BundleVerdict {
  const { roots, adopted = NONE, offered, now } = situation
  const { epoch, number } = adopted
  if (offered.epoch < epoch) return refuse(`its época ${offered.epoch} is before ${epoch}`)
  if (offered.epoch === epoch && offered.number < number) {
    return refuse(`its number is lower than ${number}`)
  }
  const next = parseRoots(offered.roots)
  if (next === undefined) return refuse('a root in it cannot be parsed')
  const trust = situation.demand && decideOfferedTrust(situation.demand, offered, next)
  if (trust?.ok === false) return refuse(trust.reason)
  const demand = trust?.demand
  const isSame = sameRoots(roots, next)
  if (offered.epoch === epoch && offered.number === number) {
    return isSame
      ? { kind: 'same', demand }
      : refuse(`it is not the set ${number} that the agent adopted`)
  }
  if (next.reduce((sum, { pem }) => sum + pem.length, 0) > ROOTS_CHARACTERS_MAX) {
    return refuse('it is too large')
  }
  if (next.some(({ x509 }) => !x509.ca)) return refuse('a root in it is not a CA certificate')
  if (!next.some(({ notBefore, notAfter }) => notBefore <= now && now < notAfter)) {
    return refuse('no root in it is valid now')
  }
  return { kind: 'adopt', roots: next, demand }
}

export function sameRoots(a: readonly Certificate[], b: readonly Certificate[]): boolean {
  const fingerprints = (roots: readonly Certificate[]): string =>
    [...new Set(roots.map(({ sha256 }) => sha256))].sort().join(' ')
  return fingerprints(a) === fingerprints(b)
}

/** One certificate each, and nothing that another reader would find besides. */
function parseRoots(pems: readonly string[]): readonly Certificate[] | undefined {
  try {
    const roots = pems.map((pem) => parseCertificatesPem(pem))
    return roots.every(({ length }) => length === 1) ? roots.flat() : undefined
  } catch {
    // OpenSSL's words for bytes that are not a certificate are of no help.
    return undefined
  }
}

function refuse(reason: string): BundleVerdict {
  return { kind: 'refuse', reason }
}
