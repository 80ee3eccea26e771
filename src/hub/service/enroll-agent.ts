// One enrolment: a token becomes an agent with its first identity.

import { createHash, randomUUID } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import { parseCsrPem, type CertificateRequest } from '../../pki/csr.ts'
import type { WireErrorCode } from '../../protocol/errors.ts'
import type { AgentId, TokenHash } from '../../protocol/identifiers.ts'
import type { EnrollRequestBody } from '../../protocol/schemas.ts'
import { HubEventType } from '../../protocol/words.ts'
import {
  CaError,
  type CertificateAuthority,
  type SignedCertificate,
} from '../ca/certificate-authority.ts'
import { decideEnrollment } from '../domain/decide-enrollment.ts'
import type { EnrollmentToken } from '../domain/enrollment-token.ts'
import type { Store, StoreWriter } from '../store/store.ts'
import { recordCertificate, recordHubAct } from './hub-acts.ts'

export interface EnrollAgentDependencies {
  readonly store: Store
  readonly authority: CertificateAuthority
  readonly clock: Clock
  readonly log: Logger
}

export type EnrollmentOutcome =
  | {
      readonly ok: true
      readonly agentId: AgentId
      readonly certificatePem: string
      readonly rootPem: string
    }
  | { readonly ok: false; readonly refusal: WireErrorCode }

export type EnrollAgent = (request: EnrollRequestBody) => Promise<EnrollmentOutcome>

/**
 * Of concurrent uses of one token the first goes to the CA; the others wait for its outcome and share a failure, or find
 * the token consumed. The claim is in memory: one process owns the vault. docs/protocol.md ENR.
 */
export function createEnrollAgent(dependencies: EnrollAgentDependencies): EnrollAgent {
  const underWay = new Map<TokenHash, Promise<EnrollmentOutcome>>()
  return async (request) => {
    const tokenHash = hashToken(request.token)
    const { reader } = dependencies.store
    const token = await reader.findToken(tokenHash)
    // Guesses are not worth the parsing.
    if (token === undefined) return { ok: false, refusal: 'token_not_found' }
    const csr = await parseCsrPem(request.csr_pem)
    const verdict = decideEnrollment({
      token,
      hostname: request.hostname,
      role: request.role,
      enrolledAgent: await reader.findAgentByHostname(request.hostname),
      csr,
      now: dependencies.clock.now(),
    })
    if (!verdict.ok) return verdict

    const first = underWay.get(tokenHash)
    if (first !== undefined) {
      const outcome = await first
      return outcome.ok ? { ok: false, refusal: 'token_consumed' } : outcome
    }
    const outcome = signAndCommit(dependencies, verdict.token, verdict.csr)
    underWay.set(tokenHash, outcome)
    try {
      return await outcome
    } finally {
      underWay.delete(tokenHash)
    }
  }
}

export function hashToken(plaintext: string): TokenHash {
  return createHash('sha256').update(plaintext).digest('hex') as TokenHash
}

async function signAndCommit(
  { store, authority, clock, log }: EnrollAgentDependencies,
  token: EnrollmentToken,
  csr: CertificateRequest,
): Promise<EnrollmentOutcome> {
  const hostname = token.expectedHostname
  let signed: SignedCertificate
  try {
    signed = await authority.sign({ csr, commonName: hostname, sans: [hostname] })
  } catch (error) {
    if (!(error instanceof CaError)) throw error
    log.warn(
      { hostname, reason: error.reason, err: error },
      'Certificate for enrolment not obtained',
    )
    return { ok: false, refusal: 'ca_failed' }
  }
  const outcome = await store.write((writer) =>
    commitEnrollment(writer, token, csr, signed, clock.now()),
  )
  if (outcome.ok) {
    log.info({ hostname, agent_id: outcome.agentId, serial: signed.leaf.serial }, 'Agent enrolled')
    return { ...outcome, rootPem: authority.rootPem }
  }
  // The token ended, or the host was enrolled, while the CA was signing: nobody gets this certificate.
  log.warn({ hostname, serial: signed.leaf.serial, refusal: outcome.refusal }, 'Orphan certificate')
  return outcome
}

type Commit =
  | { readonly ok: true; readonly agentId: AgentId; readonly certificatePem: string }
  | { readonly ok: false; readonly refusal: WireErrorCode }

async function commitEnrollment(
  writer: StoreWriter,
  token: EnrollmentToken,
  csr: CertificateRequest,
  signed: SignedCertificate,
  now: Date,
): Promise<Commit> {
  const enrolledAgent = await writer.findAgentByHostname(token.expectedHostname)
  const verdict = decideEnrollment({
    token: await writer.findToken(token.hash),
    hostname: token.expectedHostname,
    role: token.expectedRole,
    enrolledAgent,
    csr,
    now,
  })
  if (!verdict.ok) return verdict
  await writer.consumeToken(token.hash, now)
  const agentId = enrolledAgent?.id ?? (randomUUID() as AgentId)
  const agent = {
    id: agentId,
    hostname: token.expectedHostname,
    role: token.expectedRole,
    certificatePem: signed.chainPem,
    createdAt: enrolledAgent?.createdAt ?? now,
    lastSeenAt: enrolledAgent?.lastSeenAt ?? null,
    lastPollAt: enrolledAgent?.lastPollAt ?? null,
    revokedAt: null,
    activeIdentity: enrolledAgent?.activeIdentity ?? null,
  }
  await (enrolledAgent === undefined ? writer.insertAgent(agent) : writer.updateAgent(agent))
  await recordHubAct(writer, now, HubEventType.agentEnrolled, {
    actor: 'token',
    token_id: token.hash.slice(0, 16),
    agente_id: agentId,
    hostname: agent.hostname,
    role: agent.role,
  })
  await recordCertificate(writer, now, {
    agent,
    signed,
    csr,
    purpose: 'identity',
    deliveryId: null,
  })
  return { ok: true, agentId, certificatePem: signed.chainPem }
}
