import type { Secret } from '../../../../platform/secret.ts'
import type { RelyingParty } from '../../../domain/passkey.ts'
import { type Challenges, createChallenges } from './challenges.ts'

/** What a hub has that asks sessions to confirm. */
export interface Confirmations {
  readonly party: RelyingParty
  readonly challenges: Challenges
}

/** Undefined where the hub asks for none. */
export function createConfirmations(
  party: RelyingParty | undefined,
  dataKey: Secret<Buffer>,
): Confirmations | undefined {
  return party && { party, challenges: createChallenges(dataKey) }
}
