// The contract as a small model: what docs/protocol.md promises, by the audit log and by what was answered, written
// once more and as plainly as it can be. Everything that the real hub does is held against it.

import { ChainVerifier } from '../../../src/audit/hash-chain.ts'
import type { AuditEntry } from '../../../src/hub/domain/audit-entry.ts'
import type { StoreReader } from '../../../src/hub/store/store.ts'
import type { AdminAgent, AdminDelivery, AdminToken } from '../../../src/protocol/admin/views.ts'

interface TokenFacts {
  readonly hostname: string
  readonly createdAt: string
  readonly expiresAt: string
  isRevoked: boolean
  /** [TOK-4] Refused as expired, or older than what was recorded since: so it stays. */
  isExpiredForGood: boolean
  consumedFor: string | undefined
}

interface AgentFacts {
  readonly hostname: string
  isRevoked: boolean
}

interface CertificateFacts {
  readonly agentId: string
  readonly purpose: string
  readonly order: number
  readonly notAfterMs: number
  isRevoked: boolean
  /** By the hub's clock; a hub that died meanwhile may have noted the first of the two, or nothing. */
  use: { readonly fromMs: number; untilMs: number } | undefined
}

export type Payload = Readonly<Record<string, unknown>>
export type Admission = 'yes' | 'no' | 'either'

/** What reads the log along, for a part of the contract by itself. */
export interface EntryReader {
  add(entry: AuditEntry, payload: Payload): void
}

const PAGE = 1000
const GRACE_MS = 60_000
const HUB_CLOCK_AHEAD_MS_MAX = 10 * 60_000
/** DEL-5 to DEL-10: where each status may go, in one move or several. */
const MOVES: Readonly<Record<string, readonly string[]>> = {
  pendente: ['em_andamento', 'instalada', 'entregue', 'falhou', 'cancelada', 'substituida'],
  em_andamento: ['instalada', 'entregue', 'falhou', 'cancelada', 'substituida'],
  falhou: ['instalada', 'entregue', 'cancelada', 'substituida'],
  instalada: ['entregue', 'cancelada', 'substituida'],
  entregue: ['cancelada', 'substituida'],
  cancelada: [],
  substituida: [],
}

export class ContractViolation extends Error {
  override name = 'ContractViolation'
}

export class ContractModel {
  readonly #chain = new ChainVerifier()
  readonly #tokens = new Map<string, TokenFacts>()
  readonly #agents = new Map<string, AgentFacts>()
  readonly #certificates = new Map<string, CertificateFacts>()
  /** What an agent's `request_id` became. */
  readonly #events = new Map<string, { readonly hash: string; readonly type: string }>()
  readonly #eventOrder = new Map<string, string[]>()
  readonly #statuses = new Map<string, string>()
  readonly #installed = new Set<string>()
  readonly #failed = new Set<string>()
  readonly #acts = new Set<string>()
  /** Of the set of roots in force; the first one is no change, and in no log. */
  #rootSetNumber = 1
  #roots: readonly string[] | undefined
  readonly #others: readonly EntryReader[]

  constructor(others: readonly EntryReader[] = []) {
    this.#others = others
  }

  get entryCount(): number {
    return this.#chain.count
  }

  /** Reads on in the log. [CHN-1] what was read once is never changed or gone. */
  async follow(reader: StoreReader): Promise<void> {
    for (;;) {
      const page = await reader.listEntries({ afterSeq: this.#chain.count, limit: PAGE })
      // Somebody else may have read on meanwhile.
      for (const entry of page) if (entry.seq > this.#chain.count) this.#add(entry)
      if (page.length < PAGE) return
    }
  }

  /** After a start: the log still ends where it did, or goes on from there. */
  async checkLogKept(reader: StoreReader): Promise<void> {
    const { count, head } = this.#chain
    if (count > 0) {
      const [last] = await reader.listEntries({ afterSeq: count - 1, limit: 1 })
      demand(last?.hash === head, '[RES-8] the log lost or changed entry', count)
    }
    await this.follow(reader)
  }

  #add(entry: AuditEntry): void {
    this.#chain.add(entry)
    const { fault } = this.#chain
    demand(fault === undefined, '[CHN-2] [CHN-5] the chain breaks:', fault?.reason)
    this.#endTokens(entry.timestamp)
    const payload = JSON.parse(entry.payloadText) as Payload
    if (entry.agentId === null) this.#addHubAct(entry, payload)
    else this.#addEvent(entry.agentId, entry)
    for (const other of this.#others) other.add(entry, payload)
  }

  #addHubAct({ eventType, seq, deliveryId, timestamp }: AuditEntry, payload: Payload): void {
    const text = (name: string): string => String(payload[name])
    switch (eventType) {
      case 'token_created':
        this.#tokens.set(text('token_id'), {
          hostname: text('hostname'),
          createdAt: timestamp,
          expiresAt: text('expires_at'),
          isRevoked: false,
          isExpiredForGood: false,
          consumedFor: undefined,
        })
        this.#acts.add(`token_created ${text('token_id')}`)
        break
      case 'token_revoked': {
        const token = this.#tokens.get(text('token_id'))
        demand(token?.consumedFor === undefined, '[TOK-8] a consumed token was revoked')
        if (token !== undefined) token.isRevoked = true
        this.#acts.add(`token_revoked ${text('token_id')}`)
        break
      }
      case 'agent_enrolled':
        this.#addEnrolment(text('token_id'), text('agente_id'), text('hostname'))
        break
      case 'agent_revoked': {
        const agent = this.#agents.get(text('agente_id'))
        if (agent !== undefined) agent.isRevoked = true
        this.#endTokensOf(text('hostname'))
        for (const certificate of this.#certificates.values()) {
          if (certificate.agentId === text('agente_id')) certificate.isRevoked = true
        }
        this.#acts.add(`agent_revoked ${seq}`)
        break
      }
      case 'bundle_changed':
        demand(Number(payload['numero']) > this.#rootSetNumber, '[TRU-1] a number that fell')
        this.#rootSetNumber = Number(payload['numero'])
        this.#roots = payload['fingerprints'] as string[]
        break
      case 'certificate_issued': {
        const agentId = text('agente_id')
        demand(this.#agents.get(agentId)?.isRevoked === false, '[AUT-16] certificate for', agentId)
        demand(!this.#certificates.has(text('serial')), '[ISS-10] recorded twice:', text('serial'))
        this.#certificates.set(text('serial'), {
          agentId,
          purpose: text('purpose'),
          order: seq,
          notAfterMs: Date.parse(text('not_after')),
          isRevoked: false,
          use: undefined,
        })
        break
      }
      default:
        this.#acts.add(`${eventType} ${deliveryId ?? text('carga_id')} ${text('versao')}`)
    }
  }

  /** What is written later than a token's making, and not before its end, was written when it had ended. */
  #endTokens(timestamp: string): void {
    for (const token of this.#tokens.values()) {
      const isLater = timestamp > token.createdAt
      if (isLater && Date.parse(timestamp) >= Date.parse(token.expiresAt)) {
        token.isExpiredForGood = true
      }
    }
  }

  /** [TOK-9] What was there when its host was revoked brings nobody back. */
  #endTokensOf(hostname: string): void {
    for (const token of this.#tokens.values()) {
      if (token.hostname === hostname && token.consumedFor === undefined) token.isRevoked = true
    }
  }

  /** [ENR-11] [ENR-12] [ENR-14] A token makes one agent, once. */
  #addEnrolment(tokenId: string, agentId: string, hostname: string): void {
    const token = this.#tokens.get(tokenId)
    demand(token !== undefined, '[ENR-3] enrolled by an unknown token', tokenId)
    demand(token?.consumedFor === undefined, '[ENR-14] one token, two enrolments:', tokenId)
    demand(token?.isRevoked === false, '[TOK-8] enrolled by a revoked token', tokenId)
    if (token !== undefined) token.consumedFor = agentId
    this.#agents.set(agentId, { hostname, isRevoked: false })
  }

  /** [EVT-11] [AGT-28] Once, and only while the agent may. */
  #addEvent(agentId: string, { requestId, eventType, hash, deliveryId }: AuditEntry): void {
    const agent = this.#agents.get(agentId)
    demand(agent?.isRevoked === false, '[AUT-16] an event of a revoked agent:', eventType)
    const key = requestId ?? ''
    demand(!this.#events.has(key), '[EVT-11] the same event twice:', `${eventType} ${key}`)
    this.#events.set(key, { hash, type: eventType })
    const hostname = agent?.hostname ?? ''
    this.#eventOrder.set(hostname, [...(this.#eventOrder.get(hostname) ?? []), key])
    if (eventType === 'entrega_instalada') this.#installed.add(String(deliveryId))
    if (eventType === 'entrega_falhou') this.#failed.add(String(deliveryId))
  }

  /** [AUT-2] to [AUT-8] May whoever shows this certificate enter at that time of the hub's? */
  admissionOf(serial: string, nowMs: number): Admission {
    const certificate = this.#certificates.get(serial)
    if (certificate === undefined || certificate.purpose !== 'identity') return 'no'
    if (certificate.isRevoked || this.#agents.get(certificate.agentId)?.isRevoked !== false) {
      return 'no'
    }
    if (certificate.notAfterMs <= nowMs) return 'no'
    const newer = [...this.#certificates.values()].filter(
      ({ agentId, purpose, order, use }) =>
        agentId === certificate.agentId &&
        purpose === 'identity' &&
        order > certificate.order &&
        use !== undefined,
    )
    if (newer.some(({ use }) => nowMs > (use?.untilMs ?? 0) + GRACE_MS)) return 'no'
    if (newer.some(({ use }) => nowMs > (use?.fromMs ?? 0) + GRACE_MS)) return 'either'
    return 'yes'
  }

  /** An identity is about to be used; whether the hub noted it is known when it has answered. */
  noteAttemptedUse(serial: string, nowMs: number): void {
    const certificate = this.#certificates.get(serial)
    if (certificate === undefined) return
    certificate.use ??= { fromMs: nowMs, untilMs: Number.POSITIVE_INFINITY }
  }

  noteUse(serial: string, nowMs: number): void {
    const use = this.#certificates.get(serial)?.use
    if (use !== undefined) use.untilMs = Math.min(use.untilMs, nowMs)
  }

  noteRefusedUse(serial: string, hadBeenUsed: boolean): void {
    const certificate = this.#certificates.get(serial)
    if (certificate !== undefined && !hadBeenUsed) certificate.use = undefined
  }

  wasUsed(serial: string): boolean {
    return this.#certificates.get(serial)?.use !== undefined
  }

  /** [AGT-37] Whether an identity that is newer than this one was used for sure. */
  wasNewerUsed(serial: string): boolean {
    const own = this.#certificates.get(serial)
    return [...this.#certificates.values()].some(
      ({ agentId, order, purpose, use }) =>
        own !== undefined &&
        agentId === own.agentId &&
        purpose === 'identity' &&
        order > own.order &&
        use !== undefined &&
        Number.isFinite(use.untilMs),
    )
  }

  /**
   * [TRU-10] The holder of a good identity and its hub always have a root in common. A hub whose clock is ahead may think
   * of one that is about to end that it has ended.
   */
  checkStrangers(serial: string, now: Date): void {
    const isGood = this.admissionOf(serial, now.getTime() + HUB_CLOCK_AHEAD_MS_MAX) === 'yes'
    demand(!isGood, '[TRU-10] hub and agent trust no root of each other:', serial)
  }

  isConsumed(tokenId: string): boolean {
    return this.#tokens.get(tokenId)?.consumedFor !== undefined
  }

  /** By the hub's clock, which may be set back meanwhile. */
  isOpen(tokenId: string, nowMs: number): boolean {
    const token = this.#tokens.get(tokenId)
    return (
      token !== undefined &&
      token.consumedFor === undefined &&
      !token.isRevoked &&
      !token.isExpiredForGood &&
      Date.parse(token.expiresAt) > nowMs
    )
  }

  noteRefusedAsExpired(tokenId: string): void {
    const token = this.#tokens.get(tokenId)
    if (token !== undefined) token.isExpiredForGood = true
  }

  knowsToken(tokenId: string): boolean {
    return this.#tokens.has(tokenId)
  }

  purposeOf(serial: string): string | undefined {
    return this.#certificates.get(serial)?.purpose
  }

  hasEvent(requestId: string): boolean {
    return this.#events.has(requestId)
  }

  hashOfEvent(requestId: string): string | undefined {
    return this.#events.get(requestId)?.hash
  }

  hasAct(act: string): boolean {
    return this.#acts.has(act)
  }

  isRevokedHost(hostname: string): boolean {
    return [...this.#agents.values()].some(
      (agent) => agent.hostname === hostname && agent.isRevoked,
    )
  }

  /** The `request_id`s of a host's events, in the order of the log. */
  eventsOf(hostname: string): readonly string[] {
    return this.#eventOrder.get(hostname) ?? []
  }

  /** [ENR-11] [ENR-12] A token is consumed exactly when it made an agent. */
  checkTokens(tokens: readonly AdminToken[]): void {
    demand(tokens.length === this.#tokens.size, '[RES-8] tokens are lost')
    for (const { id, consumed_at: consumedAt } of tokens) {
      const isConsumed = this.isConsumed(id)
      const what = isConsumed
        ? 'made an agent and is not consumed'
        : 'is consumed and made no agent'
      demand((consumedAt !== null) === isConsumed, `[ENR-12] a token ${what}:`, id)
    }
  }

  checkAgents(agents: readonly AdminAgent[]): void {
    demand(agents.length === this.#agents.size, '[RES-8] agents are lost')
    for (const { id, revoked_at: revokedAt } of agents) {
      const isRevoked = this.#agents.get(id)?.isRevoked
      demand((revokedAt !== null) === isRevoked, '[RES-9] revoked or not:', id)
    }
  }

  /** [TRU-1] [TRU-4] In force is what was recorded last, at the port too. */
  checkRoots(number: number, inForce: readonly string[], atPort: readonly string[]): void {
    demand(number === this.#rootSetNumber, '[TRU-1] the set in force has number', number)
    demand(
      isSame(this.#roots ?? inForce, inForce),
      '[TRU-1] other roots are in force than recorded',
    )
    demand(isSame(inForce, atPort), '[TRU-4] port 8443 trusts other roots than are in force')
  }

  /** [DEL-11] Each status came from the last one by moves that there are, and for a reason. */
  checkDeliveries(deliveries: readonly AdminDelivery[]): void {
    for (const { id, status } of deliveries) {
      const before = this.#statuses.get(id)
      const isMove = before === undefined || before === status || MOVES[before]?.includes(status)
      demand(isMove, '[DEL-11] a delivery moved', `${before} to ${status}`)
      this.#statuses.set(id, status)
      demand(status !== 'instalada' || this.#installed.has(id), '[DEL-6] nobody installed', id)
      demand(status !== 'falhou' || this.#failed.has(id), '[DEL-8] nobody failed', id)
    }
    const known = new Set(deliveries.map(({ id }) => id))
    const lost = [...this.#statuses.keys()].find((id) => !known.has(id))
    demand(lost === undefined, '[RES-8] a delivery is lost:', lost)
  }
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one) => others.includes(one))
}

export function demand(isSo: boolean | undefined, why: string, detail: unknown = ''): void {
  if (isSo !== true) throw new ContractViolation(`${why} ${String(detail)}`.trim())
}
