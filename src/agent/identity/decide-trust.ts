// Whether a set of roots is what the host demands. docs/protocol.md TRK-4.

import type { SignedSet } from '../../protocol/schemas.ts'
import { hasRoots, verifySignedSet } from '../../trust/verify-signed-set.ts'
import type { Bundle, BundleNumber } from '../hub/wire.ts'
import type { TrustDemand } from './trust-record.ts'

export type TrustVerdict =
  | { readonly ok: true; readonly demand: TrustDemand; readonly fingerprints: readonly string[] }
  | { readonly ok: false; readonly reason: string }

/** With what is demanded once the set is adopted: by the key that signed it, and nothing before it. */
export function decideTrust(demand: TrustDemand, signed: SignedSet | undefined): TrustVerdict {
  const verdict = verifySignedSet(demand.key, signed)
  if (!verdict.ok) return verdict
  const { statement, key } = verdict
  const { epoch, number, fingerprints } = statement
  const { newest } = demand
  if (isBefore({ epoch, number }, newest)) {
    const known = nameNumber(newest)
    return {
      ok: false,
      reason: `set ${nameNumber(statement)} is signed, and set ${known} came after it`,
    }
  }
  return {
    ok: true,
    demand: { ...demand, key, newest: { epoch, number }, isConfirmed: true },
    fingerprints,
  }
}

/** What is signed may be another set than the one that comes with it. */
export function decideOfferedTrust(
  demand: TrustDemand,
  offered: Bundle,
  roots: readonly { readonly sha256: string }[],
): TrustVerdict {
  const verdict = decideTrust(demand, offered.signed)
  if (!verdict.ok) return verdict
  const { newest } = verdict.demand
  if (newest.epoch !== offered.epoch || newest.number !== offered.number) {
    return { ok: false, reason: `what is signed is set ${nameNumber(newest)}` }
  }
  if (!hasRoots(verdict, roots)) {
    return { ok: false, reason: 'its roots are not the roots that are signed' }
  }
  return verdict
}

function isBefore(one: BundleNumber, other: BundleNumber): boolean {
  return one.epoch < other.epoch || (one.epoch === other.epoch && one.number < other.number)
}

function nameNumber({ epoch, number }: BundleNumber): string {
  return epoch > 1 ? `${number} of época ${epoch}` : `${number}`
}
