// Which join rules take a TPM, by its endorsement key or by what its maker certified. Nothing of this is secret: anybody who shows it still
// has to be the TPM. docs/protocol.md JNR-40.

import { X509Certificate } from 'node:crypto'
import type { TpmChallengeRequestBody } from '../../../protocol/schemas.ts'
import {
  type EkCertificate,
  type EndorsementKey,
  isIssuedBy,
  parseEkCertificate,
  parseEndorsementKey,
} from '../../../tpm/endorsement-key.ts'
import type { JoinRule } from '../../domain/join-rule.ts'
import { lookUpKeyOfEk, lookUpKeyOfIssuer, type TpmProof } from '../../domain/tpm-proof.ts'
import type { StoreReader } from '../../store/store.ts'
import { RULES_OF_KEY_MAX } from '../find-token-use.ts'

export interface TpmRule extends JoinRule {
  readonly proof: TpmProof
}

export interface ShownTpm {
  readonly key: EndorsementKey
  readonly certificate: EkCertificate | undefined
}

/** Undefined for what is no key of a TPM, or no certificate of one. */
export function readShownTpm({
  ek,
  ek_cert,
}: Pick<TpmChallengeRequestBody, 'ek' | 'ek_cert'>): ShownTpm | undefined {
  if (ek_cert !== undefined) {
    const certificate = parseEkCertificate(Buffer.from(ek_cert, 'base64'))
    return certificate && { key: certificate.key, certificate }
  }
  const key = ek === undefined ? undefined : parseEndorsementKey(Buffer.from(ek, 'base64'))
  return key && { key, certificate: undefined }
}

export interface TrustingRules {
  readonly trusting: readonly TpmRule[]
  /** Trusts a CA of the issuer's name, and the certificate is not of that CA. */
  readonly deceived: TpmRule | undefined
}

/** Of those in force. A look-up for the key, and one for the issuer; then one signature for each CA of its name. */
export async function findTrustingRules(
  reader: StoreReader,
  { key, certificate }: ShownTpm,
  now: Date,
): Promise<TrustingRules> {
  const listing = await readRules(reader, lookUpKeyOfEk(key.sha256))
  if (certificate === undefined) return { trusting: listing, deceived: undefined }
  const issuerKey = lookUpKeyOfIssuer(certificate.issuer)
  const naming = await readRules(reader, issuerKey)
  const isOf = createIssuerCheck(certificate, now)
  const certifying = naming.filter(({ proof }) => (proof.authorities[issuerKey] ?? []).some(isOf))
  return {
    trusting: [...listing, ...certifying],
    deceived: naming.find((rule) => !certifying.includes(rule)),
  }
}

async function readRules(reader: StoreReader, lookUpKey: string): Promise<TpmRule[]> {
  const ids = await reader.listJoinRulesByKey(lookUpKey, RULES_OF_KEY_MAX)
  const rules = await Promise.all(ids.map((id) => reader.findJoinRule(id)))
  return rules.filter(isTpmRule)
}

export function isTpmRule(rule: JoinRule | undefined): rule is TpmRule {
  return rule?.proof.method === 'tpm'
}

/** Most often all rules have the CA of a maker alike: what was verified once is known. */
function createIssuerCheck(certificate: EkCertificate, now: Date): (authority: string) => boolean {
  const verdicts = new Map<string, boolean>()
  return (authority) => {
    const known = verdicts.get(authority)
    if (known !== undefined) return known
    const x509 = new X509Certificate(Buffer.from(authority, 'base64'))
    const isIssuer = isIssuedBy(certificate, x509, now)
    verdicts.set(authority, isIssuer)
    return isIssuer
  }
}
