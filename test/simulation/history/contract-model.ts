// The contract as a small model: what docs/protocol.md promises, by the audit log and by what was answered, written
// once more and as plainly as it can be. Everything that the real hub does is held against it.

import { ChainVerifier } from '../../../src/audit/hash-chain.ts'
import type { AuditEntry } from '../../../src/hub/domain/audit-entry.ts'
import type { StoreReader } from '../../../src/hub/store/store.ts'
import type { AdminAgent } from '../../../src/protocol/admin/views.ts'
import { DeliveryModel } from './delivery-model.ts'
import { demand } from './demand.ts'
import { checkFacts, type RememberedFact, RememberedFacts } from './remembered-facts.ts'
import { RootSetModel } from './root-set-model.ts'
import { TokenModel } from './token-model.ts'

interface AgentFacts {
  readonly hostname: string
  isRevoked: boolean
  readonly enrolledAtMs: number
}

interface CertificateFacts {
  readonly agentId: string
  readonly purpose: string
  readonly order: number
  readonly notAfterMs: number
  isRevoked: boolean
  /** By the hub's clock; a hub that died meanwhile may have noted the first of the two, or nothing. */
  use: Use | undefined
}

interface Use {
  readonly fromMs: number
  untilMs: number
}

export type Payload = Readonly<Record<string, unknown>>
export type Admission = 'yes' | 'no' | 'either'

/** What reads the log along, for a part of the contract by itself. */
export interface EntryReader {
  add(entry: AuditEntry, payload: Payload): void
  /** The hub was restored, and has so many entries of the log that was; all that it has is read again. */
  beginAgain(kept: number): void
}

/** The log before anything that the model knows. */
export interface LogBefore {
  readonly count: number
  readonly hash: string
}

/** What is known of the log of one epoch, which a restore may go back to. */
class EpochFacts {
  /** Of each entry that was read. */
  readonly hashes = new Map<number, string>()
  readonly certificates = new Map<string, CertificateFacts>()
  /** What an agent's `request_id` became, by both. */
  readonly events = new Map<string, EventFacts>()
}

interface EventFacts {
  readonly seq: number
  readonly hash: string
  readonly hostname: string
  readonly requestId: string
}

/** What a backup has. */
export interface BackedUpLog {
  /** How many restores there were before it. */
  readonly restores: number
  readonly entries: number
}

const PAGE = 1000
const GRACE_MS = 60_000
const HUB_CLOCK_AHEAD_MS_MAX = 10 * 60_000
export class ContractModel {
  #chain: ChainVerifier
  /** The newest one last. */
  readonly #epochs = [new EpochFacts()]
  /** The log that the hub was restored to has to begin with these. */
  #kept: ReadonlyMap<number, string> = new Map()
  readonly tokens = new TokenModel()
  readonly deliveries = new DeliveryModel()
  readonly remembered = new RememberedFacts()
  readonly #agents = new Map<string, AgentFacts>()
  /** By host and `request_id`: two hosts may have events with the same one. */
  readonly #recorded = new Set<string>()
  /** Events that a hub had recorded and has no more, in the same way. */
  readonly #lostEvents = new Set<string>()
  /** Before a restore, which the hub may have forgotten. */
  readonly #usesBefore = new Map<string, Use>()
  readonly #eventOrder = new Map<string, string[]>()
  readonly #acts = new Set<string>()
  readonly roots = new RootSetModel()
  readonly #before: LogBefore
  readonly #others: readonly EntryReader[]

  constructor(before: LogBefore, others: readonly EntryReader[] = []) {
    this.#before = before
    this.#others = others
    this.#chain = new ChainVerifier(before.count, before.hash)
  }

  get entryCount(): number {
    return this.#chain.count
  }

  get restores(): number {
    return this.#epochs.length - 1
  }

  get #certificates(): Map<string, CertificateFacts> {
    return this.#epoch.certificates
  }

  get #events(): Map<string, EventFacts> {
    return this.#epoch.events
  }

  get #epoch(): EpochFacts {
    return this.#epochs.at(-1) as EpochFacts
  }

  /** A restored hub has what the backup has, as it was; what the hub says is read from the start. */
  beginAgain({ restores, entries }: BackedUpLog): void {
    const { hashes, events, certificates } = this.#epochs[restores] as EpochFacts
    const kept = Math.max(entries, this.#before.count)
    this.#kept = new Map([...hashes].filter(([seq]) => seq <= kept))
    this.#chain = new ChainVerifier(this.#before.count, this.#before.hash)
    const isKept = (key: string): boolean => (events.get(key)?.seq ?? Infinity) <= kept
    for (const [key, { hostname, requestId }] of this.#events) {
      if (!isKept(key)) this.#lostEvents.add(`${hostname} ${requestId}`)
    }
    this.#usesBefore.clear()
    for (const [serial, { order, use }] of certificates) {
      const isKnown = use !== undefined && order <= kept
      if (isKnown) this.#usesBefore.set(serial, { ...use, untilMs: Number.POSITIVE_INFINITY })
    }
    this.#epochs.push(new EpochFacts())
    this.#forget()
    this.tokens.beginAgain()
    this.deliveries.beginAgain()
    this.remembered.beginAgain()
    for (const other of this.#others) other.beginAgain(kept)
  }

  #forget(): void {
    for (const known of [this.#agents, this.#recorded, this.#eventOrder, this.#acts]) {
      known.clear()
    }
    this.roots.beginAgain()
  }

  /** [BKP-19] Who was revoked last of all stays out, and no token is good again. */
  checkRemembered(facts: readonly RememberedFact[]): void {
    checkFacts(facts, this.tokens, (agentId) => this.#agents.get(agentId)?.isRevoked === true)
  }

  /** The event was recorded, and a restore has lost it. */
  wasLost(hostname: string, requestId: string): boolean {
    return this.#lostEvents.has(`${hostname} ${requestId}`)
  }

  knowsCertificate(serial: string): boolean {
    return this.#certificates.has(serial)
  }

  /** Of the agent of that name; undefined when it has none. */
  enrolledAtMs(hostname: string): number | undefined {
    return [...this.#agents.values()].find((agent) => agent.hostname === hostname)?.enrolledAtMs
  }

  /** Reads on in the log. [CHN-1] what was read once is never changed or gone. */
  async follow(reader: StoreReader): Promise<void> {
    const { restores } = this
    for (;;) {
      const page = await reader.listEntries({ afterSeq: this.#chain.count, limit: PAGE })
      // The log of a hub that is gone.
      if (restores !== this.restores) return
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
    const before = this.#kept.get(entry.seq)
    demand(
      before === undefined || before === entry.hash,
      '[BKP-4] restored another entry',
      entry.seq,
    )
    this.#epoch.hashes.set(entry.seq, entry.hash)
    this.tokens.noteTime(entry.timestamp)
    const payload = JSON.parse(entry.payloadText) as Payload
    if (entry.agentId === null) this.#addHubAct(entry, payload)
    else this.#addEvent(entry.agentId, entry)
    for (const other of this.#others) other.add(entry, payload)
  }

  #addHubAct({ eventType, seq, deliveryId, timestamp }: AuditEntry, payload: Payload): void {
    const text = (name: string): string => String(payload[name])
    switch (eventType) {
      case 'token_created':
        this.tokens.add(text('token_id'), {
          hostname: text('hostname'),
          createdAt: timestamp,
          expiresAt: text('expires_at'),
        })
        this.#acts.add(`token_created ${text('token_id')}`)
        break
      case 'token_revoked':
        this.tokens.revoke(text('token_id'))
        this.remembered.add({ seq, kind: 'ended', token: text('token_id') })
        this.#acts.add(`token_revoked ${text('token_id')}`)
        break
      case 'agent_enrolled':
        // A token that was made after the backup is as unknown to the log as to the hub.
        if (payload['actor'] === 'restore') this.tokens.addSpent(text('token_id'), text('hostname'))
        this.tokens.consume(text('token_id'), text('agente_id'))
        this.#agents.set(text('agente_id'), {
          hostname: text('hostname'),
          isRevoked: false,
          enrolledAtMs: Date.parse(timestamp),
        })
        this.remembered.add({
          seq,
          kind: 'spent',
          token: text('token_id'),
          agentId: text('agente_id'),
        })
        break
      case 'identity_taken_back':
        this.#takeBack(text('serial'), text('agente_id'), text('hostname'), {
          seq,
          timestamp,
          notAfter: text('not_after'),
        })
        break
      case 'agent_revoked': {
        const agent = this.#agents.get(text('agente_id'))
        if (agent !== undefined) agent.isRevoked = true
        this.tokens.revokeOpenOf(text('hostname'))
        for (const certificate of this.#certificates.values()) {
          if (certificate.agentId === text('agente_id')) certificate.isRevoked = true
        }
        this.remembered.add({ seq, kind: 'revoked', agentId: text('agente_id') })
        this.#acts.add(`agent_revoked ${seq}`)
        break
      }
      case 'bundle_changed':
        this.roots.change(Number(payload['numero']), payload['fingerprints'] as string[])
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
          use: this.#usesBefore.get(text('serial')),
        })
        break
      }
      default:
        this.#acts.add(`${eventType} ${deliveryId ?? text('carga_id')} ${text('versao')}`)
    }
  }

  /** [BKP-17] */
  #takeBack(
    serial: string,
    agentId: string,
    hostname: string,
    at: { readonly seq: number; readonly timestamp: string; readonly notAfter: string },
  ): void {
    const agent = this.#agents.get(agentId)
    demand(agent?.isRevoked !== true, '[BKP-17] a revoked agent is taken back:', hostname)
    demand(!this.#certificates.has(serial), '[BKP-17] taken back, and not lost:', serial)
    const enrolledAtMs = Date.parse(at.timestamp)
    if (agent === undefined) this.#agents.set(agentId, { hostname, isRevoked: false, enrolledAtMs })
    this.tokens.noteTakenBack(hostname)
    this.#certificates.set(serial, {
      agentId,
      purpose: 'identity',
      order: at.seq,
      notAfterMs: Date.parse(at.notAfter),
      isRevoked: false,
      use: undefined,
    })
  }

  /** [EVT-11] [AGT-28] Once, and only while the agent may. */
  #addEvent(agentId: string, { seq, requestId, eventType, hash, deliveryId }: AuditEntry): void {
    const agent = this.#agents.get(agentId)
    demand(agent?.isRevoked === false, '[AUT-16] an event of a revoked agent:', eventType)
    const id = requestId ?? ''
    const key = `${agentId} ${id}`
    demand(!this.#events.has(key), '[EVT-11] the same event twice:', `${eventType} ${key}`)
    const hostname = agent?.hostname ?? ''
    this.#events.set(key, { seq, hash, hostname, requestId: id })
    this.#recorded.add(`${hostname} ${id}`)
    this.#eventOrder.set(hostname, [...(this.#eventOrder.get(hostname) ?? []), id])
    this.deliveries.addEvent(eventType, String(deliveryId))
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

  purposeOf(serial: string): string | undefined {
    return this.#certificates.get(serial)?.purpose
  }

  hasEvent(hostname: string, requestId: string): boolean {
    return this.#recorded.has(`${hostname} ${requestId}`)
  }

  hashOfEvent(agentId: string, requestId: string): string | undefined {
    return this.#events.get(`${agentId} ${requestId}`)?.hash
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

  checkAgents(agents: readonly AdminAgent[]): void {
    demand(agents.length === this.#agents.size, '[RES-8] agents are lost')
    for (const { id, revoked_at: revokedAt } of agents) {
      const isRevoked = this.#agents.get(id)?.isRevoked
      demand((revokedAt !== null) === isRevoked, '[RES-9] revoked or not:', id)
    }
  }
}
