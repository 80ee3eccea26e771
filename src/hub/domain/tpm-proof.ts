// Of method tpm: which TPMs let a host in. Pure. docs/protocol.md JNR-40 to JNR-45.

import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { JoinRuleId, TokenHash } from '../../protocol/identifiers.ts'

export interface TpmProof {
  readonly method: 'tpm'
  /** What challenges, and the tokens of its hosts, are derived from; nobody has a text with this hash. */
  readonly useKey: TokenHash
  /** All keys of the two tables below, under which the rule is found. */
  readonly lookUpKeys: readonly string[]
  /** By `lookUpKeyOfIssuer`: CAs of makers with this name, DER in base64. */
  readonly authorities: Readonly<Record<string, readonly string[]>>
  /** By `lookUpKeyOfEk`: the hostname that the TPM is for; null for any that the rule is for. */
  readonly hostnames: Readonly<Record<string, string | null>>
}

/** Under which a rule is found that lists the key. */
export function lookUpKeyOfEk(sha256: string): string {
  return `tpm:${sha256}`
}

/** Under which a rule is found that trusts a CA of this name, DER. */
export function lookUpKeyOfIssuer(name: Uint8Array): string {
  return `tpm:${hash('sha256', name)}`
}

/** Why a TPM, or what it says, is not what the rule asks for. */
export type TpmFault =
  /** The maker has not signed the certificate. */
  | 'ek_certificate'
  /** The key is not one that signs only what a TPM says. */
  | 'attestation_key'
  /** The secret is that of no challenge for this rule, TPM, key, host and role. */
  | 'challenge'
  /** The quote is none, or is over something else. */
  | 'quote'
  /** The list has the TPM for another host. */
  | 'tpm_hostname'

/** Of the one use: a TPM is one host, whichever rule lets it in. */
export function useIdOfEk(sha256: string): string {
  return hash('sha256', `cartorio tpm\n${sha256}`)
}

/** Whether the list of the rule, if it has one, has the TPM for another host. */
export function isListedElsewhere(
  { hostnames }: Pick<TpmProof, 'hostnames'>,
  ekSha256: string,
  hostname: string,
): boolean {
  const listed = hostnames[lookUpKeyOfEk(ekSha256)] ?? null
  return listed !== null && listed !== hostname
}

/** What a challenge is for. */
export interface Challenge {
  readonly ekSha256: string
  readonly akName: Buffer
  readonly hostname: string
  readonly role: string
  readonly untilSeconds: number
}

export const CHALLENGE_SECONDS = 300

const DOMAIN = 'cartorio tpm challenge v1'
const RULE_BYTES = 8
/** The rest of what an EK can carry. */
const MAC_BYTES = 24

interface ChallengingRule {
  readonly id: JoinRuleId
  readonly proof: Pick<TpmProof, 'useKey'>
}

/**
 * Worked out again when it comes back, so the hub keeps nothing of who only asked. The rule's id is in it, which nobody reads but the
 * TPM: who merely knows an EK does not learn which rule its names would go by.
 */
export function secretOf({ id, proof }: ChallengingRule, challenge: Challenge): Buffer {
  const { ekSha256, akName, hostname, role, untilSeconds } = challenge
  const said = [DOMAIN, ekSha256, akName.toString('hex'), hostname, role, untilSeconds]
  const mac = createHmac('sha256', Buffer.from(proof.useKey, 'hex')).update(JSON.stringify(said))
  return Buffer.concat([Buffer.from(id, 'hex'), mac.digest().subarray(0, MAC_BYTES)])
}

/** Of which rule a secret says that it is. */
export function ruleIdIn(secret: Buffer): JoinRuleId {
  return secret.subarray(0, RULE_BYTES).toString('hex') as JoinRuleId
}

export function isSecretOf(rule: ChallengingRule, challenge: Challenge, secret: Buffer): boolean {
  const own = secretOf(rule, challenge)
  return own.length === secret.length && timingSafeEqual(own, secret)
}
