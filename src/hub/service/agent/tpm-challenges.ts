// A host with a TPM asks for a challenge: a secret that only its TPM can read, and only for a key that never leaves the TPM. A caller that asks
// leaves nothing behind, and learns nothing of rules and names: those are looked at when the answer comes, from a host that has shown
// its TPM. docs/protocol.md JNR-41.

import type { Clock } from '../../../platform/clock.ts'
import type { WireErrorCode } from '../../../protocol/errors.ts'
import type { TpmChallengeReplyBody, TpmChallengeRequestBody } from '../../../protocol/schemas.ts'
import { parseAttestationKey } from '../../../tpm/attestation-key.ts'
import { makeCredential } from '../../../tpm/make-credential.ts'
import { JOIN_REFUSALS } from '../../domain/join-rule.ts'
import {
  CHALLENGE_SECONDS,
  isListedElsewhere,
  secretOf,
  useIdOfEk,
} from '../../domain/tpm-proof.ts'
import type { StoreReader } from '../../store/store.ts'
import { chooseRule, findUser } from './choose-rule.ts'
import type { JoinRefusals } from './join-refusals.ts'
import { findTrustingRules, isTpmRule, readShownTpm, type TpmRule } from './trusted-tpms.ts'

export type TpmChallengeOutcome =
  | { readonly ok: true; readonly challenge: TpmChallengeReplyBody }
  | { readonly ok: false; readonly refusal: WireErrorCode }

export type ChallengeTpm = (request: TpmChallengeRequestBody) => Promise<TpmChallengeOutcome>

export interface TpmChallengesDependencies {
  readonly reader: StoreReader
  readonly clock: Clock
  readonly refusals: Pick<JoinRefusals, 'note'>
}

/** Only for a TPM that a rule trusts the hub encrypts anything. */
export function createChallengeTpm({
  reader,
  clock,
  refusals,
}: TpmChallengesDependencies): ChallengeTpm {
  return async (request) => {
    const { hostname, role } = request
    const refuse = (rule: TpmRule | undefined, reason: 'ek_certificate' | 'attestation_key') => {
      if (rule !== undefined) refusals.note(rule, { reason, hostname, role })
      return { ok: false, refusal: JOIN_REFUSALS[reason] } as const
    }
    const shown = readShownTpm(request)
    if (shown === undefined) return refuse(undefined, 'ek_certificate')
    const now = clock.now()
    const { sha256: ekSha256, publicKey } = shown.key
    const { trusting, deceived } = await findTrustingRules(reader, shown, now)
    const used = await findUser(reader, useIdOfEk(ekSha256))
    // The rule that let it in has seen whose TPM it is, and answers also when somebody has ended it since.
    const rules = isTpmRule(used?.rule) ? [...trusting, used.rule] : trusting
    const fitting = rules.filter(({ proof }) => !isListedElsewhere(proof, ekSha256, hostname))
    const choice = { hostname, role, now, used }
    const rule = chooseRule(fitting, choice) ?? chooseRule(rules, choice)
    if (rule === undefined) return refuse(deceived, 'ek_certificate')
    const ak = parseAttestationKey(Buffer.from(request.ak, 'base64'))
    if (ak === undefined) return refuse(rule, 'attestation_key')
    const untilSeconds = Math.floor(now.getTime() / 1000) + CHALLENGE_SECONDS
    const challenge = { ekSha256, akName: ak.name, hostname, role, untilSeconds }
    const { blob, encryptedSeed } = makeCredential(publicKey, ak.name, secretOf(rule, challenge))
    return {
      ok: true,
      challenge: {
        credential: blob.toString('base64'),
        encrypted_seed: encryptedSeed.toString('base64'),
        until: untilSeconds,
      },
    }
  }
}
