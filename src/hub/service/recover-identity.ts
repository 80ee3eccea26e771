// An agent whose identity expired while it, or the hub, was away comes back without a new token.

import { compactVerify } from 'jose'
import { Compile } from 'typebox/compile'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import type { TokenBuckets } from '../../platform/token-bucket.ts'
import type { WireErrorCode } from '../../protocol/errors.ts'
import { parseCertificatePem, type Certificate } from '../../pki/certificates.ts'
import { parseCsrPem } from '../../pki/csr.ts'
import { RecoveryClaims, type RecoverRequestBody } from '../../protocol/schemas.ts'
import { HubEventType } from '../../protocol/words.ts'
import { decideRecovery, PROOF_AGE_MS_MAX } from '../domain/decide-recovery.ts'
import type { Store } from '../store/store.ts'
import { recordHubAct } from './hub-acts.ts'
import type { IssueCertificate, IssueOutcome } from './issue-certificate.ts'

export interface RecoverIdentityDependencies {
  readonly store: Store
  readonly clock: Clock
  readonly log: Logger
  readonly issueCertificate: IssueCertificate
  readonly hubNames: readonly string[]
  /** How long after its expiry an identity can be recovered; 0 turns recovery off. */
  readonly graceMs: number
  readonly issueRates: TokenBuckets
}

export type RecoverIdentity = (request: RecoverRequestBody) => Promise<IssueOutcome>

const claimsValidator = Compile(RecoveryClaims)

/** Answers like certs/issue. docs/protocol.md REC. */
export function createRecoverIdentity(dependencies: RecoverIdentityDependencies): RecoverIdentity {
  const { store, clock, log, issueCertificate, hubNames, graceMs, issueRates } = dependencies
  return async (request) => {
    const presented = parsePresented(request.cert_pem)
    const certificate = presented && (await store.reader.findCertificate(presented.sha256))
    const claims = presented && (await verifyProof(request.proof, presented))
    const csr = parseCsrPem(request.csr_pem)
    const now = clock.now()
    const verdict = decideRecovery({
      certificate,
      agent: certificate && (await store.reader.findAgentById(certificate.agentId)),
      claims,
      csrSha256: csr && Buffer.from(csr.sha256, 'hex').toString('base64url'),
      hubNames,
      graceMs,
      now,
    })
    if (!verdict.ok) {
      log.warn({ serial: presented?.serial ?? null, reason: verdict.reason }, 'Recovery refused')
      return { ok: false, refusal: 'recovery_refused' }
    }
    const { agent, jti } = verdict
    if (issueRates.take(agent.id) > 0) return { ok: false, refusal: 'rate_limited' }
    // Kept until its `iat` is too old to be accepted again.
    const proofExpiry = new Date(now.getTime() + 2 * PROOF_AGE_MS_MAX)
    const isFresh = await store.write((writer) => writer.useProof(jti, proofExpiry, now))
    if (!isFresh) {
      log.warn({ hostname: agent.hostname, reason: 'proof used before' }, 'Recovery refused')
      return { ok: false, refusal: 'recovery_refused' }
    }
    const issue = { csr_pem: request.csr_pem }
    const { sha256, serial, notAfter } = verdict.certificate
    const outcome = await issueCertificate(agent, issue, sha256, (writer, at) =>
      recordHubAct(writer, at, HubEventType.identityRecovered, {
        actor: 'agent',
        agente_id: agent.id,
        hostname: agent.hostname,
        old_serial: serial,
        not_after: notAfter.toISOString(),
      }),
    )
    if (!outcome.ok) {
      return AUTHENTICATION_REFUSALS.has(outcome.refusal)
        ? { ok: false, refusal: 'recovery_refused' }
        : outcome
    }
    log.info({ hostname: agent.hostname }, 'Identity recovered')
    return outcome
  }
}

/** What became of the agent, or of its certificate, while the CA was signing. */
const AUTHENTICATION_REFUSALS: ReadonlySet<WireErrorCode> = new Set([
  'agent_not_registered',
  'agent_revoked',
  'certificate_superseded',
])

function parsePresented(pem: string): Certificate | undefined {
  try {
    return parseCertificatePem(pem)
  } catch {
    // Whatever it is, it is no certificate of ours.
    return undefined
  }
}

async function verifyProof(
  proof: string,
  { x509 }: Certificate,
): Promise<RecoveryClaims | undefined> {
  try {
    const { payload } = await compactVerify(proof, x509.publicKey, { algorithms: ['ES256'] })
    const claims: unknown = JSON.parse(new TextDecoder().decode(payload))
    return claimsValidator.Check(claims) ? claims : undefined
  } catch {
    return undefined
  }
}
