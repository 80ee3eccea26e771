// Which roots of an enrolment's reply may be trusted, and by which key roots have to be signed from then on.
// docs/protocol.md TRK-6, TRK-7.

import { parseTrustKey } from '../../trust/trust-key.ts'
import type { EnrollReply } from '../hub/wire.ts'
import type { TrustSetting } from '../settings/trust-setting.ts'
import { decideTrust } from './decide-trust.ts'
import type { TrustDemand } from './trust-record.ts'

export type EnrolmentTrust =
  | {
      readonly ok: true
      /** Undefined when no signature is demanded from then on. */
      readonly demand: TrustDemand | undefined
      /** Of the roots that may be trusted; undefined for all. */
      readonly fingerprints: ReadonlySet<string> | undefined
    }
  | { readonly ok: false; readonly reason: string }

/** What the host demands already counts; only a host that demands nothing learns a key from the hub. */
export function decideEnrolmentTrust(
  demand: TrustDemand | undefined,
  setting: TrustSetting,
  { trustKey, signed }: Pick<EnrollReply, 'trustKey' | 'signed'>,
): EnrolmentTrust {
  if (setting === 'off' || (demand === undefined && trustKey === undefined)) {
    return { ok: true, demand: undefined, fingerprints: undefined }
  }
  const wanted = demand ?? learn(trustKey)
  if (wanted === undefined) return { ok: false, reason: 'the trust key that it names is none' }
  const verdict = decideTrust(wanted, signed)
  if (!verdict.ok) return verdict
  return { ok: true, demand: verdict.demand, fingerprints: new Set(verdict.fingerprints) }
}

function learn(trustKey: string | undefined): TrustDemand | undefined {
  const key = trustKey === undefined ? undefined : parseTrustKey(trustKey)
  return key && { given: null, key, newest: { epoch: 0, number: 0 }, isConfirmed: false }
}
