// The answer to a challenge, in place of a token: which join rule it is for. One look-up finds the rule that the secret names; that the
// secret is of this rule, TPM, key, host and role says that the TPM was trusted, and that it has the key; the quote says that the key
// speaks for this very request. docs/protocol.md JNR-42, JNR-43.

import type { Clock } from '../../../platform/clock.ts'
import { type AttestationKey, parseAttestationKey } from '../../../tpm/attestation-key.ts'
import { parseTpmToken, quotedDigest, type TpmToken } from '../../../tpm/join-token.ts'
import { isQuoteSignedBy, readQuoted } from '../../../tpm/quote.ts'
import {
  deriveTokenHash,
  JOIN_REFUSALS,
  type JoinRefusalReason,
  useKeyOf,
} from '../../domain/join-rule.ts'
import { isListedElsewhere, isSecretOf, ruleIdIn, useIdOfEk } from '../../domain/tpm-proof.ts'
import type { StoreReader } from '../../store/store.ts'
import type { FoundUse } from '../find-token-use.ts'
import type { JoinRefusals } from './join-refusals.ts'
import { isTpmRule, type TpmRule } from './trusted-tpms.ts'

export interface TpmJoinsDependencies {
  readonly reader: StoreReader
  readonly clock: Clock
  readonly refusals: Pick<JoinRefusals, 'note'>
}

export interface TpmJoinRequest {
  readonly token: string
  readonly hostname: string
  readonly role: string
  /** Hex; undefined for a request without a CSR. */
  readonly csrSha256: string | undefined
}

export async function findTpmUse(
  { reader, clock, refusals }: TpmJoinsDependencies,
  request: TpmJoinRequest,
): Promise<FoundUse> {
  const { hostname, role } = request
  const token = parseTpmToken(request.token)
  const ak = token && parseAttestationKey(token.ak)
  const rule = token && (await reader.findJoinRule(ruleIdIn(token.secret)))
  if (token === undefined || ak === undefined || !isTpmRule(rule)) {
    return { ok: false, refusal: 'token_not_found' }
  }
  const reason = findFault(rule, { ...request, token, ak, now: clock.now() })
  if (reason !== undefined) {
    refusals.note(rule, { reason, hostname, role })
    return { ok: false, refusal: JOIN_REFUSALS[reason] }
  }
  const tokenHash = deriveTokenHash(useKeyOf(rule), hostname)
  const shown = {
    id: useIdOfEk(token.ekSha256),
    expiresAt: rule.expiresAt,
    said: { ek_sha256: token.ekSha256 },
  }
  return { ok: true, use: { tokenHash, joinRuleId: rule.id, hostname, role, shown } }
}

interface Answer extends Omit<TpmJoinRequest, 'token'> {
  readonly token: TpmToken
  readonly ak: AttestationKey
  readonly now: Date
}

/** Of the hub's clock and that of another hub, which made the challenge. */
const CLOCK_TOLERANCE_SECONDS = 60

/** Before the signature nothing is told of the host that the TPM is listed for. */
function findFault(
  rule: TpmRule,
  { token, ak, hostname, role, csrSha256, now }: Answer,
): JoinRefusalReason | undefined {
  const { ekSha256, secret, untilSeconds, quote, signature } = token
  const challenge = { ekSha256, akName: ak.name, hostname, role, untilSeconds }
  if (!isSecretOf(rule, challenge, secret)) return 'challenge'
  if (now.getTime() / 1000 >= untilSeconds + CLOCK_TOLERANCE_SECONDS) return 'lifetime'
  const quoted = readQuoted(quote)
  const isOver = csrSha256 !== undefined && quoted?.equals(quotedDigest(secret, csrSha256))
  if (isOver !== true) return 'quote'
  if (!isQuoteSignedBy(ak.publicKey, quote, signature)) return 'signature'
  return isListedElsewhere(rule.proof, ekSha256, hostname) ? 'tpm_hostname' : undefined
}
