import type { WireErrorCode } from '../../protocol/errors.ts'
import { DeliveryKind } from '../../protocol/words.ts'
import type { CertificateRequest } from '../../pki/csr.ts'
import type { Agent } from './agent.ts'
import type { Cargo } from './cargo.ts'
import { type Delivery, isLive } from './delivery.ts'
import { findForbiddenNames, type ForbiddenName, type HostRules } from './host-rules.ts'
import { coversName } from './subject-alt-name.ts'

export interface IssueFacts {
  readonly agent: Agent
  readonly csr: CertificateRequest | undefined
  /** What the request's `entrega_id` names; undefined when it names nothing, null when the request has none. */
  readonly delivery: (Delivery & { readonly cargo: Cargo }) | undefined | null
  readonly hubNames: readonly string[]
  readonly rules: HostRules
}

export type IssueVerdict =
  | {
      readonly ok: true
      readonly csr: CertificateRequest
      readonly sans: readonly string[]
      readonly delivery: Delivery | null
    }
  | {
      readonly ok: false
      readonly refusal: WireErrorCode
      /** The names that politicas forbid, when that is why. */
      readonly forbiddenNames?: readonly ForbiddenName[]
    }

/** May this agent have a certificate for this CSR? docs/protocol.md ISS. */
export function decideIssue({ agent, csr, delivery, hubNames, rules }: IssueFacts): IssueVerdict {
  if (csr === undefined) return { ok: false, refusal: 'csr_invalid' }
  if (csr.commonName !== agent.hostname) return { ok: false, refusal: 'csr_cn_mismatch' }
  if (delivery === undefined || (delivery !== null && !isIssuable(delivery, agent))) {
    return { ok: false, refusal: 'entrega_not_found' }
  }
  const sans = [...new Set([agent.hostname, ...(delivery?.sans ?? [])])]
  // Checked when the carga was made, too; the hub may have been renamed since. docs/protocol.md DEL-17.
  if (sans.some((san) => hubNames.some((name) => coversName(san, name)))) {
    return { ok: false, refusal: 'csr_cn_mismatch' }
  }
  // Checked when the carga was made, too; the politicas, or the agent's role and labels, may be others since. docs/protocol.md POL-10.
  const forbiddenNames = findForbiddenNames(rules, agent.hostname, sans)
  if (forbiddenNames.length > 0) return { ok: false, refusal: 'csr_cn_mismatch', forbiddenNames }
  if (!asksForTheseNamesOrNone(csr, sans)) return { ok: false, refusal: 'csr_cn_mismatch' }
  return { ok: true, csr, sans, delivery }
}

function isIssuable(delivery: Delivery & { readonly cargo: Cargo }, agent: Agent): boolean {
  return (
    delivery.agentId === agent.id &&
    delivery.cargo.kind === DeliveryKind.csrCert &&
    isLive(delivery)
  )
}

function asksForTheseNamesOrNone(csr: CertificateRequest, sans: readonly string[]): boolean {
  if (csr.sans === undefined) return false
  if (csr.sans.length === 0) return true
  const asked = new Set(csr.sans)
  return asked.size === sans.length && sans.every((name) => asked.has(name))
}
