// One enrolment: a token becomes an agent with its first identity. docs/protocol.md ENR.

import { hash as digest } from 'node:crypto'
import type { Clock } from '../../../platform/clock.ts'
import type { Logger } from '../../../platform/logger.ts'
import { parseCsr, type CertificateRequest } from '../../../pki/csr.ts'
import { decodePem } from '../../../pki/pem.ts'
import type { WireErrorCode } from '../../../protocol/errors.ts'
import { isProof } from '../../../protocol/host-proof.ts'
import {
  parseRecipient,
  type AgentId,
  type JoinRuleId,
  type Recipient,
  type TokenHash,
} from '../../../protocol/identifiers.ts'
import type { EnrollRequestBody } from '../../../protocol/schemas.ts'
import { isTpmToken } from '../../../tpm/join-token.ts'
import { HubEventType } from '../../../protocol/words.ts'
import { CaError, type CertificateAuthority } from '../../ca/certificate-authority.ts'
import { decideEnrollment, isCsrFor } from '../../domain/decide-enrollment.ts'
import { decideReplay, fingerprintEnrollment } from '../../domain/decide-replay.ts'
import {
  endToken,
  type EnrollmentReplay,
  type EnrollmentToken,
  isOpen,
} from '../../domain/enrollment-token.ts'
import { JOIN_REFUSALS, type JoinRefusalReason, type JoinRule } from '../../domain/join-rule.ts'
import type { Store, StoreReader, WriteCompany } from '../../store/store.ts'
import type { AgentNotifier } from '../../domain/agent-notifier.ts'
import type { IssuerKeys } from '../../domain/issuer-keys.ts'
import { isWorkloadToken } from '../../domain/workload-token.ts'
import { commitEnrollment } from './commit-enrollment.ts'
import { describeLifetime } from './describe-lifetime.ts'
import { findRulesOf, hostOfToken, mayOperatorsReenroll } from '../find-rules.ts'
import {
  findTokenUse,
  type FoundUse,
  findUsedToken,
  hasPlace,
  isUsedElsewhere,
  type TokenUse,
} from '../find-token-use.ts'
import { hashToken } from '../../domain/hash-token.ts'
import { recordHubAct } from '../hub-acts.ts'
import { createJoinRefusals, type JoinRefusals } from './join-refusals.ts'
import { findProofUse } from './proof-joins.ts'
import { findTpmUse } from './tpm-joins.ts'
import { findWorkloadUse } from './workload-joins.ts'
import {
  obtainByToken,
  type ObtainedCertificate,
  type WantedCertificate,
} from '../obtain-certificate.ts'

export interface EnrollAgentDependencies {
  readonly store: Store
  readonly authority: CertificateAuthority
  readonly clock: Clock
  readonly log: Logger
  readonly hubNames: readonly string[]
  /** Of what is written once the CA has signed. */
  readonly company?: WriteCompany | undefined
  /** Of the platforms whose tokens join rules take. */
  readonly keys: IssuerKeys
  /** Undefined for a hub that has its vault to itself. */
  readonly hubId?: string | undefined
  /** Told of an agent that was enrolled again, whose deliveries are new. */
  readonly notifier?: Pick<AgentNotifier, 'announce'>
  readonly onJoinRefused?: ((reason: JoinRefusalReason) => void) | undefined
}

export type EnrollmentOutcome =
  | {
      readonly ok: true
      readonly agentId: AgentId
      readonly certificatePem: string
      readonly rootPem: string
      /** The answer is the kept one: the request spent no token. docs/protocol.md ENR-17. */
      readonly isRepetition?: boolean
    }
  | {
      readonly ok: false
      readonly refusal: WireErrorCode
      /** How long a caller with the token of a join rule has to wait. */
      readonly waitMs?: number
    }

/** `idempotencyKey`: a caller that sends one may repeat the request and gets the same answer. */
export type EnrollAgent = (
  request: EnrollRequestBody,
  idempotencyKey: string | undefined,
) => Promise<EnrollmentOutcome>

/** One request, parsed but for its CSR: its bytes, if it has any. */
interface Attempt extends TokenUse {
  readonly csrDer: Buffer | undefined
  /** Undefined when the request is not to be replayed. */
  readonly fingerprint: string | undefined
  readonly recipient: Recipient | undefined
}

const MISMATCHES_MAX = 10
/** Between two looks at what another hub does with a token. */
const CLAIMED_WAIT_MS = 250
/** For a place of a join rule that a request to the CA holds: the CA has ten seconds (CAX-5). */
const PLACE_WAITS_MAX = 60

/**
 * Of concurrent uses of one token one at a time is examined and goes to the CA; the others wait for its outcome, share a
 * failure of the CA, and find the token consumed otherwise. What another hub does with the token is in the store.
 */
export function createEnrollAgent(dependencies: EnrollAgentDependencies): EnrollAgent {
  const { store } = dependencies
  const { clock, log, onJoinRefused } = dependencies
  const refusals = createJoinRefusals(store, clock, log, onJoinRefused)
  const underWay = new Map<TokenHash, Promise<EnrollmentOutcome>>()

  const enroll = async (attempt: Attempt): Promise<EnrollmentOutcome> => {
    const first = underWay.get(attempt.tokenHash)
    if (first === undefined) {
      const own = enrollAlone({ ...dependencies, refusals }, attempt)
      underWay.set(attempt.tokenHash, own)
      try {
        return await own
      } finally {
        underWay.delete(attempt.tokenHash)
      }
    }
    const outcome = await first
    const isShared = !outcome.ok && outcome.refusal === 'ca_failed'
    if (!isShared) return enroll(attempt)
    const standing = await examine(dependencies, attempt)
    return 'token' in standing ? outcome : enroll(attempt)
  }

  return async (request, idempotencyKey) => {
    const csrDer = decodePem(request.csr_pem, 'certificateRequest')
    const csrSha256 = csrDer && digest('sha256', csrDer, 'hex')
    const found = await findUse({ ...dependencies, refusals }, request, csrSha256)
    if (!found.ok) return found
    const { use } = found
    const { hostname, role } = request
    const recipient = parseRecipient(request.recipient ?? '')
    const fingerprint =
      csrSha256 === undefined || idempotencyKey === undefined
        ? undefined
        : fingerprintEnrollment({
            hostname,
            role,
            csrSha256,
            idempotencyKey,
            recipient,
          })
    return enroll({ ...use, csrDer, fingerprint, recipient })
  }
}

/** Told by its form: a token of the hub, a platform's, or the proof of a host's own key. */
async function findUse(
  dependencies: Dependencies,
  request: EnrollRequestBody,
  csrSha256: string | undefined,
): Promise<FoundUse> {
  const { reader } = dependencies.store
  if (isTpmToken(request.token)) {
    return findTpmUse({ ...dependencies, reader }, { ...request, csrSha256 })
  }
  if (isProof(request.token)) {
    return findProofUse({ ...dependencies, reader }, { ...request, csrSha256 })
  }
  if (isWorkloadToken(request.token)) return findWorkloadUse({ ...dependencies, reader }, request)
  const use = await findTokenUse(reader, hashToken(request.token), request)
  return use === undefined ? { ok: false, refusal: 'token_not_found' } : { ok: true, use }
}

interface Dependencies extends EnrollAgentDependencies {
  readonly refusals: JoinRefusals
}

async function enrollAlone(
  dependencies: Dependencies,
  attempt: Attempt,
  waits = 0,
): Promise<EnrollmentOutcome> {
  const standing = await examine(dependencies, attempt)
  if ('replay' in standing) {
    const { agentId, certificatePem } = standing.replay
    const { rootPem } = dependencies.authority
    return { ok: true, agentId, certificatePem, rootPem, isRepetition: true }
  }
  if (!standing.ok) {
    if ('rule' in standing) return refuseJoin(dependencies, attempt, standing)
    if (attempt.joinRuleId !== null) return refuseName(dependencies, attempt, standing)
    if (isMismatch(standing.refusal)) await countMismatch(dependencies, attempt.tokenHash)
    if (standing.refusal === 'token_expired') await keepExpired(dependencies, attempt.tokenHash)
    return standing
  }
  const { joinRuleId } = attempt
  if (joinRuleId === null || (await hasPlace(dependencies.store.reader, joinRuleId))) {
    const outcome = await signAndCommit(dependencies, standing.token, standing.csr, attempt)
    if (outcome !== undefined) return outcome
  } else if (waits >= PLACE_WAITS_MAX) return { ok: false, refusal: 'unavailable' }
  await dependencies.clock.sleep(CLAIMED_WAIT_MS)
  return enrollAlone(dependencies, attempt, waits + 1)
}

type Standing =
  | { readonly replay: EnrollmentReplay }
  | { readonly ok: true; readonly token: EnrollmentToken; readonly csr: CertificateRequest }
  | { readonly ok: false; readonly refusal: WireErrorCode }
  | RefusedJoin

interface RefusedJoin {
  readonly ok: false
  readonly rule: JoinRule
  readonly refusal: WireErrorCode
  readonly reason: JoinRefusalReason
}

async function examine(
  { store, clock, hubNames }: EnrollAgentDependencies,
  attempt: Attempt,
): Promise<Standing> {
  const { hostname, role, csrDer, fingerprint } = attempt
  const now = clock.now()
  const { reader } = store
  const found = await findUsedToken(reader, attempt, now)
  if ('refused' in found) return { rule: found.rule, ...found.refused }
  const { token } = found
  if (await isUsedElsewhere(reader, attempt)) return refuseUsed(reader, attempt)
  const enrolledAgent = await reader.findAgentByHostname(hostname)
  const replay = token && decideReplay(token, enrolledAgent, fingerprint, now)
  if (replay !== undefined) return { replay }
  const verdict = decideEnrollment({
    token,
    hostname,
    role,
    enrolledAgent,
    mayOperatorsReenroll: await mayOperatorsReenroll(reader, token, enrolledAgent),
    hubNames,
    now,
  })
  if (!verdict.ok) return verdict
  // The hub parses a CSR only for the holder of this very token: no check before costs as much. docs/protocol.md ENR-20.
  const csr = csrDer && parseCsr(csrDer)
  return isCsrFor(verdict.token, csr) ? { ...verdict, csr } : { ok: false, refusal: 'csr_invalid' }
}

/** The token of a workload lets one host in, whatever its rule has room for. */
async function refuseUsed(reader: StoreReader, { joinRuleId }: Attempt): Promise<Standing> {
  const reason = 'used'
  const refusal = JOIN_REFUSALS[reason]
  const rule = joinRuleId === null ? undefined : await reader.findJoinRule(joinRuleId)
  return { ok: false, refusal, ...(rule && { rule, reason }) }
}

/** The rule stays as it is: its token is on many hosts, and none of them ends it for the others. docs/protocol.md JNR-8. */
async function refuseJoin(
  dependencies: Dependencies,
  attempt: Attempt,
  { rule, refusal, reason }: RefusedJoin,
): Promise<EnrollmentOutcome> {
  const { store, refusals } = dependencies
  refusals.note(rule, { reason, hostname: attempt.hostname, role: attempt.role })
  if (reason === 'expired' && rule.endedAt === null) {
    await store.write((writer) => writer.endExpiredTokens(rule.expiresAt))
  }
  return isMismatch(refusal) ? limitTries(dependencies, rule.id, refusal) : { ok: false, refusal }
}

/** The rule would let the host in, but for what the hub knows of its name. */
function refuseName(
  dependencies: Dependencies,
  { joinRuleId }: Attempt,
  { refusal }: { readonly refusal: WireErrorCode },
): EnrollmentOutcome {
  const tellsOfName = refusal !== 'csr_invalid' && joinRuleId !== null
  return tellsOfName ? limitTries(dependencies, joinRuleId, refusal) : { ok: false, refusal }
}

function limitTries(
  { refusals }: Dependencies,
  ruleId: JoinRuleId,
  refusal: WireErrorCode,
): EnrollmentOutcome {
  const waitMs = refusals.takeTry(ruleId)
  return waitMs > 0 ? { ok: false, refusal: 'rate_limited', waitMs } : { ok: false, refusal }
}

function isMismatch(refusal: WireErrorCode): boolean {
  return refusal === 'hostname_mismatch' || refusal === 'role_mismatch'
}

/** A stolen token is no key to try hosts with: ten mismatches end it. docs/protocol.md TOK-7. */
async function countMismatch(
  { store, clock, log }: EnrollAgentDependencies,
  hash: TokenHash,
): Promise<void> {
  const ended = await store.write(async (writer) => {
    const now = clock.now()
    const token = await openToken(writer, hash, now)
    if (token === undefined) return undefined
    const counted = { ...token, mismatches: token.mismatches + 1 }
    const isLast = counted.mismatches >= MISMATCHES_MAX
    await writer.updateToken(isLast ? endToken(counted, now) : counted)
    if (!isLast) return undefined
    const fields = { token_id: hash.slice(0, 16), hostname: token.expectedHostname }
    const payload = { actor: 'hub', ...fields, reason: 'mismatches' }
    await recordHubAct(writer, now, HubEventType.tokenRevoked, payload)
    return fields
  })
  if (ended !== undefined) log.warn(ended, 'Token ended after too many mismatches')
}

/** What was refused as expired once stays so, wherever the clock goes. docs/protocol.md TOK-4. */
async function keepExpired(
  { store }: Pick<EnrollAgentDependencies, 'store'>,
  hash: TokenHash,
): Promise<void> {
  const token = await store.reader.findToken(hash)
  if (token === undefined || token.endedAt !== null) return
  await store.write((writer) => writer.endExpiredTokens(token.expiresAt))
}

async function openToken(
  reader: StoreReader,
  hash: TokenHash,
  now: Date,
): Promise<EnrollmentToken | undefined> {
  const token = await reader.findToken(hash)
  return token !== undefined && isOpen(token, now) ? token : undefined
}

/** Undefined while another hub does it. */
async function signAndCommit(
  dependencies: EnrollAgentDependencies,
  token: EnrollmentToken,
  csr: CertificateRequest,
  attempt: Attempt,
): Promise<EnrollmentOutcome | undefined> {
  const { fingerprint, recipient } = attempt
  const { store, authority, clock, log, hubNames, notifier, company } = dependencies
  const hostname = token.expectedHostname
  const enrolled = await store.reader.findAgentByHostname(hostname)
  const host = await hostOfToken(store.reader, token, enrolled)
  const rules = await findRulesOf(store.reader, host)
  const wanted: WantedCertificate = {
    csr,
    commonName: hostname,
    sans: [hostname],
    lifetimeSeconds: rules.certTtlSeconds,
    request: 'enrollment',
    hostname,
  }
  let signed: ObtainedCertificate | undefined
  try {
    signed = await obtainByToken(dependencies, wanted, attempt)
  } catch (error) {
    if (!(error instanceof CaError)) throw error
    const { reason } = error
    const fields = { hostname, reason, ...describeLifetime(rules, error), err: error }
    log.warn(fields, 'Certificate for enrolment not obtained')
    return { ok: false, refusal: 'ca_failed' }
  }
  if (signed === undefined) return undefined
  const obtained = signed
  const outcome = await store.write(async (writer) => {
    const now = clock.now()
    const { shown } = attempt
    const asked = { token, csr, fingerprint, recipient, shown }
    const enrollment = { ...asked, signed: obtained, hubNames, now }
    const committed = await commitEnrollment(writer, enrollment)
    if (committed.ok) await obtained.settle(writer, now)
    else await obtained.discard(writer, now, committed.refusal)
    return committed
  }, company)
  if (outcome.ok) {
    const fields = { hostname, agent_id: outcome.agentId, serial: signed.leaf.serial }
    log.info(fields, 'Agent enrolled')
    notifier?.announce([outcome.agentId])
    return { ...outcome, certificatePem: signed.chainPem, rootPem: authority.rootPem }
  }
  // The token ended, or the host was enrolled, while the CA was signing: the hub hands this certificate out to nobody.
  const fields = { hostname, serial: signed.leaf.serial, refusal: outcome.refusal }
  log.warn(fields, 'Orphan certificate')
  return outcome
}
