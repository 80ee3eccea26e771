// What a rule of method jwt asks for, on its way in and out. docs/protocol.md JNR-17.

import { randomBytes } from 'node:crypto'
import type { AdminWorkload } from '../../../protocol/admin/join-methods.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import { hashToken } from '../../domain/hash-token.ts'
import { parseKeys } from '../../domain/parse-keys.ts'
import { decideWebhookUrl } from '../../domain/webhook-url.ts'
import type { WorkloadProof } from '../../domain/workload-proof.ts'
import type { StoreReader } from '../../store/store.ts'
import { AdminRefusal } from '../admin-act.ts'
import { RULES_OF_ISSUER_MAX } from '../find-token-use.ts'

type WantedWorkload = NonNullable<AdminRequest<'createJoinRule'>['jwt']>

/** RFC 7519, 4.1: who asks for a token names its audience himself, and issuer and times are the same for all. */
const IMPARTIAL = /^\/?(iss|aud|exp|nbf|iat)(\/|$)/

/** Throws an AdminRefusal on what no token could be checked against. */
export async function parseWorkloadProof(
  reader: StoreReader,
  { issuer, audience, claims, hostname_claim, jwks_url, jwks }: WantedWorkload,
): Promise<WorkloadProof> {
  if (jwks !== undefined && jwks_url !== undefined) {
    throw new AdminRefusal('request_invalid', 'jwks and jwks_url do not go together')
  }
  // The hub asks the issuer itself, unless it is told the keys.
  const asked = jwks === undefined ? (jwks_url ?? issuer) : undefined
  const verdict = asked === undefined ? undefined : decideWebhookUrl(asked)
  if (verdict?.ok === false) {
    throw new AdminRefusal('issuer_invalid', `the hub cannot ask ${asked}: ${verdict.reason}`)
  }
  for (const { claim, values } of claims) {
    if (IMPARTIAL.test(claim)) {
      throw new AdminRefusal(
        'claim_invalid',
        `claim ${claim}: it does not say whose token it is, so any token of the issuer may have it`,
      )
    }
    const anything = values.find((value) => value === '*')
    if (anything === undefined) continue
    throw new AdminRefusal(
      'claim_invalid',
      `claim ${claim}: * alone is for every token of the issuer`,
    )
  }
  const others = await reader.listJoinRulesOfIssuer(issuer, RULES_OF_ISSUER_MAX)
  if (others.length >= RULES_OF_ISSUER_MAX) {
    throw new AdminRefusal(
      'join_rules_too_many',
      `${RULES_OF_ISSUER_MAX} join rules take tokens of ${issuer} already`,
    )
  }
  return {
    method: 'jwt',
    useKey: hashToken(randomBytes(32).toString('base64url')),
    issuer,
    audience,
    claims,
    hostnameClaim: hostname_claim ?? null,
    keys: jwks === undefined ? null : readKeys(jwks),
    keysUrl: jwks_url ?? null,
  }
}

function readKeys(text: string): WorkloadProof['keys'] {
  const keys = parseKeys(text)
  if (keys !== undefined) return keys
  throw new AdminRefusal('jwks_invalid', 'jwks is no JSON Web Key Set of 1 to 100 public keys')
}

export function toAdminWorkload({
  issuer,
  audience,
  claims,
  hostnameClaim,
  keysUrl,
  keys,
}: WorkloadProof): AdminWorkload {
  return {
    issuer,
    audience,
    claims: claims.map(({ claim, values }) => ({ claim, values: [...values] })),
    hostname_claim: hostnameClaim,
    jwks_url: keysUrl,
    jwks_keys: keys?.keys.length ?? 0,
  }
}
