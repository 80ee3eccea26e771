import type { Clock } from '../../../platform/clock.ts'
import type { Logger } from '../../../platform/logger.ts'
import { parseCsrPem } from '../../../pki/csr.ts'
import type { WireErrorCode } from '../../../protocol/errors.ts'
import type { DeliveryId } from '../../../protocol/identifiers.ts'
import type { IssueRequestBody } from '../../../protocol/schemas.ts'
import { DeliveryStatus } from '../../../protocol/words.ts'
import { CaError, type CertificateAuthority } from '../../ca/certificate-authority.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Cargo } from '../../domain/cargo.ts'
import { decideIssue, type IssueVerdict } from '../../domain/decide-issue.ts'
import type { Delivery } from '../../domain/delivery.ts'
import { findPresentedFault } from '../../domain/find-presented-fault.ts'
import type { ForbiddenName, HostRules } from '../../domain/host-rules.ts'
import type { Store, StoreReader, StoreWriter, WriteCompany } from '../../store/store.ts'
import { describeLifetime } from './describe-lifetime.ts'
import { findRules } from '../find-rules.ts'
import { recordCertificate } from '../hub-acts.ts'
import { obtainCertificate, type ObtainedCertificate } from '../obtain-certificate.ts'
import type { WaitingReasons } from '../waiting-reasons.ts'

export interface IssueCertificateDependencies {
  readonly store: Store
  readonly authority: CertificateAuthority
  readonly clock: Clock
  readonly log: Logger
  readonly hubNames: readonly string[]
  /** Of what is written once the CA has signed. */
  readonly company?: WriteCompany | undefined
  /** Undefined for a hub that has its vault to itself. */
  readonly hubId?: string | undefined
  /** Where operators find why a delivery waits. */
  readonly waiting?: WaitingReasons | undefined
}

export type IssueOutcome =
  | { readonly ok: true; readonly certificatePem: string; readonly rootPem: string }
  /** The reason, where the code does not say it, is for the log and for operators. */
  | { readonly ok: false; readonly refusal: WireErrorCode; readonly reason?: string }

/** `presentedSha256` names the certificate that the caller showed; `recordAlso` writes in the commit that records the new one. */
export type IssueCertificate = (
  agent: Agent,
  request: IssueRequestBody,
  presentedSha256: string,
  recordAlso?: (writer: StoreWriter, at: Date) => Promise<void>,
) => Promise<IssueOutcome>

/** A renewed identity, or a certificate for one of the agent’s deliveries. docs/protocol.md ISS. */
export function createIssueCertificate(
  dependencies: IssueCertificateDependencies,
): IssueCertificate {
  const { store, authority, clock, log, hubNames, company, waiting } = dependencies
  return async (agent, request, presentedSha256, recordAlso) => {
    // A recovery has an entry of its own beside the certificate’s.
    const identityRequest = recordAlso === undefined ? 'renewal' : 'recovery'
    const csr = parseCsrPem(request.csr_pem)
    const delivery = await findRequestedDelivery(store.reader, request)
    const rules = await findRules(store.reader, agent)
    const verdict = decideIssue({ agent, csr, delivery, hubNames, rules })
    if (!verdict.ok) {
      if (delivery?.agentId === agent.id) {
        waiting?.note(delivery.id, describeRefusal(verdict), clock.now())
      }
      return refused(log, agent, verdict)
    }

    let signed: ObtainedCertificate
    try {
      signed = await obtainCertificate(dependencies, {
        csr: verdict.csr,
        commonName: agent.hostname,
        sans: verdict.sans,
        lifetimeSeconds: rules.certTtlSeconds,
        request: verdict.delivery === null ? identityRequest : 'delivery',
        hostname: agent.hostname,
        agentId: agent.id,
      })
    } catch (error) {
      if (!(error instanceof CaError)) throw error
      log.warn(
        {
          hostname: agent.hostname,
          reason: error.reason,
          ...describeLifetime(rules, error),
          err: error,
        },
        'Certificate not obtained',
      )
      const reason = describeFailure(rules, error)
      if (delivery) waiting?.note(delivery.id, reason, clock.now())
      return { ok: false, refusal: 'ca_failed', reason }
    }
    const commit = async (writer: StoreWriter, now: Date): Promise<WireErrorCode | undefined> => {
      // The agent may have been revoked, or its delivery cancelled, while the CA was signing.
      const current = await writer.findAgentById(agent.id)
      if (current === undefined) return 'agent_not_registered'
      if (current.revokedAt !== null) return 'agent_revoked'
      const currentRules = await findRules(writer, current)
      const again = decideIssue({
        agent: current,
        csr: verdict.csr,
        hubNames,
        rules: currentRules,
        delivery: await findRequestedDelivery(writer, request),
      })
      if (!again.ok) return again.refusal
      const presented = await writer.findIdentity(current, presentedSha256)
      const isIdentityWanted = again.delivery === null
      const fault = findPresentedFault(current, presented, { isForIdentity: isIdentityWanted })
      if (fault !== undefined) return fault
      if (again.delivery?.status === DeliveryStatus.pending) {
        await writer.setDeliveryStatus(again.delivery.id, DeliveryStatus.inProgress, now, null)
      }
      const purpose = again.delivery === null ? 'identity' : 'delivery'
      await recordCertificate(writer, now, {
        agent: current,
        signed,
        csr: verdict.csr,
        purpose,
        delivery: again.delivery,
        request: again.delivery === null ? identityRequest : 'delivery',
        rules: currentRules,
      })
      if (purpose === 'identity') await writer.setAgentCertificate(current.id, signed.chainPem)
      await recordAlso?.(writer, now)
      return undefined
    }
    const refusal = await store.write(async (writer) => {
      const now = clock.now()
      const reason = await commit(writer, now)
      if (reason === undefined) await signed.settle(writer, now)
      else await signed.discard(writer, now, reason)
      return reason
    }, company)
    if (refusal !== undefined) return { ok: false, refusal }
    if (delivery) waiting?.forget(delivery.id)
    log.info(
      {
        hostname: agent.hostname,
        serial: signed.leaf.serial,
        entrega_id: request.entrega_id ?? null,
      },
      'Certificate issued',
    )
    return { ok: true, certificatePem: signed.chainPem, rootPem: authority.rootPem }
  }
}

/** The reply has only a code; the log tells the operator which names were refused, and which politica forbids them. */
function refused(
  log: Logger,
  { hostname, role }: Agent,
  verdict: Extract<IssueVerdict, { ok: false }>,
): IssueOutcome {
  const { refusal, forbiddenNames = [] } = verdict
  for (const { politica, isByRole, sans } of byPolicy(forbiddenNames)) {
    const fields = { hostname, role, politica, sans }
    if (isByRole) log.warn(fields, 'Names not permitted by the politica of the role')
    else log.warn(fields, 'Names not permitted by a politica with a selector')
  }
  const reason = describeRefusal(verdict)
  return reason === refusal ? { ok: false, refusal } : { ok: false, refusal, reason }
}

interface ForbiddenNames extends Pick<ForbiddenName, 'isByRole'> {
  readonly politica: string | undefined
  readonly sans: readonly string[]
}

function byPolicy(names: readonly ForbiddenName[]): ForbiddenNames[] {
  const groups = Map.groupBy(names, ({ policyName }) => policyName)
  return [...groups].map(([politica, some]) => ({
    politica,
    isByRole: some.every(({ isByRole }) => isByRole),
    sans: some.map(({ san }) => san),
  }))
}

/** For people who look at the delivery: the code of the reply, and what the agent is not told. */
function describeRefusal({
  refusal,
  forbiddenNames = [],
}: Extract<IssueVerdict, { ok: false }>): string {
  const reasons = byPolicy(forbiddenNames).map(
    ({ politica, sans }) => `policy ${politica} does not permit ${sans.join(', ')}`,
  )
  return reasons.length === 0 ? refusal : `${refusal}: ${reasons.join('; ')}`
}

function describeFailure(rules: HostRules, error: CaError): string {
  const { politica, cert_ttl } = describeLifetime(rules, error)
  const asked = cert_ttl === undefined ? '' : ` (policy ${politica} asks for ${cert_ttl})`
  return `ca_failed: ${error.message}${asked}`
}

async function findRequestedDelivery(
  reader: StoreReader,
  request: IssueRequestBody,
): Promise<(Delivery & { cargo: Cargo }) | undefined | null> {
  if (request.entrega_id === undefined) return null
  const delivery = await reader.findDelivery(request.entrega_id as DeliveryId)
  if (delivery === undefined) return undefined
  const cargo = await reader.findCargo(delivery.cargoId)
  return cargo === undefined ? undefined : { ...delivery, cargo }
}
