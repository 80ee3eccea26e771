// By a join rule a host enrols without a token that somebody made for it. docs/protocol.md JNR.

import { createHmac } from 'node:crypto'
import type { WireErrorCode } from '../../protocol/errors.ts'
import {
  type Hostname,
  type JoinRuleId,
  parseHostname,
  type TokenHash,
} from '../../protocol/identifiers.ts'
import type { Labels } from '../../protocol/labels.ts'
import type { EnrollmentToken } from './enrollment-token.ts'
import type { HostProof, ProofFault } from './host-proof.ts'
import type { StatementFault } from './host-statement.ts'
import { matchesPattern } from './name-pattern.ts'
import type { SilenceWatch } from './silent-host.ts'
import type { TpmFault, TpmProof } from './tpm-proof.ts'
import type { WorkloadProof } from './workload-proof.ts'
import type { WorkloadFault } from './workload-token.ts'

export interface JoinRule {
  readonly id: JoinRuleId
  /** Only one open rule has this name. */
  readonly name: string
  readonly proof: JoinProof
  readonly role: string
  readonly pattern: string
  /** That its hosts get when they enrol. */
  readonly labels: Labels
  readonly hostsMax: number
  /** That have joined, whatever became of them. */
  readonly hosts: number
  /** A host that joined and was silent for so long is revoked; null leaves it alone. */
  readonly silentMs: number | null
  readonly createdAt: Date
  readonly expiresAt: Date
  /** Ended by somebody, or seen to be expired: permanently, also when somebody sets the clock back. */
  readonly endedAt: Date | null
  /** Null before the hub first watched its hosts. */
  readonly watch: SilenceWatch | null
}

/** What a host has to show, by method. */
export type JoinProof = TokenProof | WorkloadProof | HostProof | TpmProof

export interface TokenProof {
  readonly method: 'token'
  /** Of the one token that all hosts use. */
  readonly tokenHash: TokenHash
}

/** What the tokens of its hosts are derived from. */
export function useKeyOf({ proof }: Pick<JoinRule, 'proof'>): TokenHash {
  return proof.method === 'token' ? proof.tokenHash : proof.useKey
}

export type JoinRuleState = 'open' | 'full' | 'expired' | 'ended'

/** Why a rule lets a host not in, for the log; the wire has fewer words. */
export type JoinRefusalReason =
  | Exclude<JoinRuleState, 'open'>
  | 'hostname'
  | 'role'
  | WorkloadFault
  | ProofFault
  | TpmFault
  | StatementFault['reason']
  /** No key of the issuer has made it. */
  | 'signature'
  /** Another host has used it. */
  | 'used'

export function stateOfRule(
  { endedAt, expiresAt, hosts, hostsMax }: JoinRule,
  now: Date,
): JoinRuleState {
  if (endedAt !== null && endedAt < expiresAt) return 'ended'
  if (endedAt !== null || expiresAt <= now) return 'expired'
  return hosts >= hostsMax ? 'full' : 'open'
}

/** Whether it may let hosts in some day: a full one does not, yet nobody may make another one of its name. */
export function isRuleInForce({ endedAt, expiresAt }: JoinRule, now: Date): boolean {
  return endedAt === null && expiresAt > now
}

export type JoinVerdict =
  | { readonly ok: true; readonly token: EnrollmentToken }
  | {
      readonly ok: false
      readonly refusal: WireErrorCode
      readonly reason: JoinRefusalReason
    }

export interface JoinFacts {
  readonly hostname: string
  readonly role: string
  readonly now: Date
}

/** Only the holder of a token that is good, as far as it goes, learns more than that it is not. */
export const JOIN_REFUSALS: Readonly<Record<JoinRefusalReason, WireErrorCode>> = {
  full: 'token_expired',
  expired: 'token_expired',
  ended: 'token_expired',
  hostname: 'hostname_mismatch',
  role: 'role_mismatch',
  audience: 'token_not_found',
  lifetime: 'token_expired',
  signature: 'token_not_found',
  claim: 'token_not_found',
  hostname_claim: 'hostname_mismatch',
  used: 'token_consumed',
  statement: 'token_not_found',
  certificate: 'token_not_found',
  revoked: 'token_not_found',
  proof_name: 'hostname_mismatch',
  ek_certificate: 'token_not_found',
  attestation_key: 'token_not_found',
  challenge: 'token_not_found',
  quote: 'token_not_found',
  tpm_hostname: 'hostname_mismatch',
}

/** In the order of ENR-5 to ENR-7. The token is that of this host alone, and is in no table before the host has used it. */
export function decideJoin(rule: JoinRule, { hostname, role, now }: JoinFacts): JoinVerdict {
  const state = stateOfRule(rule, now)
  if (state !== 'open') return refuse(state)
  const name = parseHostname(hostname)
  if (name === undefined || !matchesPattern(rule.pattern, name)) return refuse('hostname')
  if (rule.role !== role) return refuse('role')
  return { ok: true, token: deriveToken(rule, name) }
}

function refuse(reason: JoinRefusalReason): JoinVerdict {
  return { ok: false, refusal: JOIN_REFUSALS[reason], reason }
}

function deriveToken(rule: JoinRule, hostname: Hostname): EnrollmentToken {
  return {
    hash: deriveTokenHash(useKeyOf(rule), hostname),
    expectedHostname: hostname,
    expectedRole: rule.role,
    createdAt: rule.createdAt,
    expiresAt: rule.expiresAt,
    consumedAt: null,
    endedAt: rule.endedAt,
    isReenrollment: false,
    isOperators: false,
    mismatches: 0,
    labels: rule.labels,
    joinRuleId: rule.id,
    replay: null,
  }
}

const DOMAIN = 'cartorio join rule v1'

/** Of what stands for the use of a rule by one host: no text that somebody sends as a token has this hash. */
export function deriveTokenHash(ruleTokenHash: TokenHash, hostname: string): TokenHash {
  const key = Buffer.from(ruleTokenHash, 'hex')
  return createHmac('sha256', key).update(`${DOMAIN}\n${hostname}`).digest('hex') as TokenHash
}
