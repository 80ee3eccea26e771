// An agent whose identity expired while it, or the hub, was away comes back without a new token.

import { hash, X509Certificate } from 'node:crypto'
import type { Clock } from '../../../platform/clock.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { TokenBuckets } from '../../../platform/token-bucket.ts'
import type { WireErrorCode } from '../../../protocol/errors.ts'
import { fromX509 } from '../../../pki/certificates.ts'
import { decodePem } from '../../../pki/pem.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import type { RecoverRequestBody } from '../../../protocol/schemas.ts'
import { HubEventType } from '../../../protocol/words.ts'
import {
  decideProof,
  decideRecoverable,
  PROOF_AGE_MS_MAX,
  type RecoverableVerdict,
} from '../../domain/decide-recovery.ts'
import type { IssuedCertificate } from '../../domain/issued-certificate.ts'
import type { Store } from '../../store/store.ts'
import { recordHubAct } from '../hub-acts.ts'
import type { IdentityReceipts, ReturningIdentity } from './identity-receipts.ts'
import type { IssueCertificate, IssueOutcome } from './issue-certificate.ts'
import { verifyProof } from './verify-proof.ts'

export interface RecoverIdentityDependencies {
  readonly store: Store
  readonly clock: Clock
  readonly log: Logger
  readonly issueCertificate: IssueCertificate
  readonly hubNames: readonly string[]
  /** How long after its expiry an identity can be recovered; 0 turns recovery off. */
  readonly graceMs: number
  readonly issueRates: TokenBuckets
  /** For identities that a restored vault does not know. */
  readonly receipts?: Pick<IdentityReceipts, 'examine' | 'takeBack'>
}

export type RecoveryOutcome =
  | Extract<IssueOutcome, { ok: true }>
  /** The agent of a caller that has shown its key. */
  | (Extract<IssueOutcome, { ok: false }> & { readonly agentId?: AgentId })

export type RecoverIdentity = (request: RecoverRequestBody) => Promise<RecoveryOutcome>

/**
 * Answers like certs/issue. What a stranger can ask for, by a certificate that anybody may know, costs a look-up; with one
 * that can be recovered, a signature of P-256. docs/protocol.md REC-9.
 */
export function createRecoverIdentity(dependencies: RecoverIdentityDependencies): RecoverIdentity {
  const { store, clock, log, issueCertificate, hubNames, graceMs, issueRates, receipts } =
    dependencies
  const findRecoverable = async (
    der: Buffer | undefined,
    receipt: string | undefined,
  ): Promise<FoundIdentity> => {
    const { reader } = store
    const sha256 = der === undefined ? undefined : hash('sha256', der, 'hex')
    const certificate = sha256 === undefined ? undefined : await reader.findCertificate(sha256)
    const agent = certificate && (await reader.findAgentById(certificate.agentId))
    const verdict = decideRecoverable({ certificate, agent, graceMs, now: clock.now() })
    if (certificate !== undefined || receipt === undefined || receipts === undefined) return verdict
    if (der === undefined || sha256 === undefined || graceMs === 0) return verdict
    const present = () => fromX509(new X509Certificate(der))
    const returning = await receipts.examine(sha256, receipt, present)
    if (!returning.ok) return returning
    const then = {
      certificate: { ...NEW_IN_THE_VAULT, ...returning.certificate },
      agent: returning.agent,
    }
    const later = decideRecoverable({ ...then, graceMs, now: clock.now() })
    return later.ok ? { ...later, returning } : later
  }
  return async (request) => {
    const der = decodePem(request.cert_pem, 'certificate')
    const found = await findRecoverable(der, request.receipt)
    if (!found.ok || der === undefined) {
      return refuse(found.ok ? 'no certificate' : found.reason)
    }
    const { agent, certificate } = found
    const { serial } = certificate
    // Checked before the proof, charged after it, when the caller has shown the key: a stranger uses up no agent's rate.
    if (issueRates.waitMs(agent.id) > 0) return { ok: false, refusal: 'rate_limited' }
    const csrDer = decodePem(request.csr_pem, 'certificateRequest')
    const claims = await verifyProof(request.proof, der)
    const now = clock.now()
    const verdict = decideProof({
      claims,
      csrSha256: csrDer && hash('sha256', csrDer, 'base64url'),
      hubNames,
      now,
    })
    if (!verdict.ok) return refuse(`${verdict.reason}, serial ${serial}`)
    if (issueRates.take(agent.id) > 0) return { ok: false, refusal: 'rate_limited' }
    // Kept until its `iat` is too old to be accepted again.
    const proofExpiry = new Date(now.getTime() + 2 * PROOF_AGE_MS_MAX)
    const isFresh = await store.write((writer) => writer.useProof(verdict.jti, proofExpiry, now))
    if (!isFresh) {
      // A caller that repeats a proof need not have the key.
      issueRates.giveBack(agent.id)
      return refuse(`proof of ${agent.hostname} used before`)
    }
    if (found.returning !== undefined) {
      const taken = await receipts?.takeBack(found.returning)
      if (taken?.ok !== true) return refuse(taken?.reason ?? 'unknown certificate')
    }
    const issue = { csr_pem: request.csr_pem }
    const outcome = await issueCertificate(agent, issue, certificate.sha256, (writer, at) =>
      recordHubAct(writer, at, HubEventType.identityRecovered, {
        actor: 'agent',
        agente_id: agent.id,
        hostname: agent.hostname,
        old_serial: serial,
        not_after: certificate.notAfter.toISOString(),
      }),
    )
    if (!outcome.ok) {
      const { refusal } = outcome
      return AUTHENTICATION_REFUSALS.has(refusal)
        ? { ok: false, refusal: 'recovery_refused' }
        : { ...outcome, agentId: agent.id }
    }
    log.info({ hostname: agent.hostname }, 'Identity recovered')
    return outcome
  }
}

/** With what is to be taken back first, when the caller has shown the key. */
type FoundIdentity = RecoverableVerdict & { readonly returning?: ReturningIdentity }

/** Taken back, it is the newest of all. */
const NEW_IN_THE_VAULT: Pick<IssuedCertificate, 'seq' | 'revokedAt' | 'firstUsedAt'> = {
  seq: Number.MAX_SAFE_INTEGER,
  revokedAt: null,
  firstUsedAt: null,
}

function refuse(reason: string): RecoveryOutcome {
  return { ok: false, refusal: 'recovery_refused', reason }
}

/** What became of the agent, or of its certificate, while the CA was signing. */
const AUTHENTICATION_REFUSALS: ReadonlySet<WireErrorCode> = new Set([
  'agent_not_registered',
  'agent_revoked',
  'certificate_superseded',
])
