// What the store answers of a whole fleet for one who looks at it all the time: each from an index, or from what it has counted.

import type { AgentId, DeliveryId } from '../../protocol/identifiers.ts'
import type { Agent } from '../domain/agent.ts'
import type { CertificateInUse } from '../domain/fleet.ts'
import type { EndCount } from '../domain/fleet-ends.ts'
import type { AgentTrust } from '../domain/root-set.ts'
import type { LateRule, Page } from './store.ts'

export interface SummaryReader {
  /** The certificates in use, by the quarter of an hour in which they end. */
  countEnds(rule: LateRule, within: EndsWithin): Promise<EndCount[]>
  /** Of the certificates in use; the one that ended last comes first. */
  listExpired(now: Date, limit: number): Promise<CertificateInUse[]>
  /** Those of agents that have lost none, the first to end first. */
  listLateInTime(rule: LateRule, limit: number): Promise<CertificateInUse[]>
  /** Agents with a certificate that ends then or before. */
  countAgentsEnding(until: Date): Promise<number>
  /** Agents that had lost one then, and what they lose next; the one that lost one first comes first. */
  listLost(then: Date, page: LostPage): Promise<LostHosts>
  /** The first certificate to end of the agents that have none which is late. */
  findFirstOnTime(rule: LateRule): Promise<CertificateInUse | undefined>
  /** For each end: agents that have none which is late, and one that ends then or before. */
  countOnTimeEnding(rule: LateRule, untils: readonly Date[]): Promise<number[]>
  /** Why the newest deliveries failed that no other is to replace; the most frequent reason comes first. */
  groupFailures(limit: number): Promise<DeliveryFailures[]>
  /** Those that are not removed. */
  countCargoes(): Promise<number>
  /** Neither used nor ended; counts no further than `max`. */
  countOpenTokens(now: Date, max: number): Promise<number>
  /** What agents that are neither revoked nor removed say of the roots that they trust; what most of them say comes first. */
  listTrustCounts(limit: number): Promise<TrustCount[]>
  /** The roots of certificates that have not ended, of agents that are neither revoked nor removed, among the next `limit` of a part. */
  countStandingRoots(page: RootsPage): Promise<RootsSlice>
  /** What agents, neither revoked nor removed, say of the roots that they trust, among the next `limit`, without what is `adopted`. */
  listTrustBeside(page: TrustPage): Promise<TrustSlice>
  /** Those among the next `limit` agents that have not said which roots they trust, and are neither revoked nor removed. */
  listSilent(page: Page): Promise<SilentSlice>
}

/**
 * Identities that were not used yet; deliveries that have a certificate and are not installed; identities and deliveries that are in
 * use. In this order what comes into use meanwhile is counted, at worst twice.
 */
export const ROOTS_PARTS = ['unused', 'pendente', 'falhou', 'em_andamento', 'in use'] as const
export type RootsPart = (typeof ROOTS_PARTS)[number]

/** Within a part. */
export interface RootsPlace {
  readonly place: number
  readonly seq: number
}

export interface RootsPage {
  readonly part: RootsPart
  readonly now: Date
  readonly after: RootsPlace | undefined
  readonly limit: number
}

export interface RootsSlice {
  /** SHA-256 of the root; null where it is unknown. */
  readonly counts: readonly { readonly root: string | null; readonly count: number }[]
  /** Null at the end. */
  readonly last: RootsPlace | null
}

export interface TrustPage {
  readonly adopted: readonly Pick<AgentTrust, 'fingerprints' | 'pinned'>[]
  /** Who says another one has not adopted, whatever it trusts. */
  readonly number: number | undefined
  readonly after: number | undefined
  readonly limit: number
}

export interface TrustSlice {
  readonly said: readonly { readonly hostname: string; readonly trust: AgentTrust }[]
  readonly last: number | null
}

export interface SilentSlice {
  readonly agents: readonly Agent[]
  readonly last: AgentId | null
}

export interface EndsWithin {
  /** Beyond the quarter of this instant; undefined from the first one on. */
  readonly after?: Date | undefined
  /** Up to and with the quarter of this one. */
  readonly until: Date
}

export interface LostPlace {
  readonly firstEnd: Date
  readonly id: AgentId
}

export interface LostPage {
  readonly after: LostPlace | undefined
  readonly limit: number
}

export interface LostHosts {
  /** Of each host, in no order; null where nothing is left. There may be a great many. */
  readonly nextEndsMs: readonly (number | null)[]
  /** After which the next page begins; null at the end. */
  readonly last: LostPlace | null
}

/** Deliveries that failed for one reason. */
export interface DeliveryFailures {
  readonly reason: string
  readonly count: number
  /** One of them. */
  readonly example: DeliveryId
}

/** So many agents say the same. */
export interface TrustCount extends Pick<AgentTrust, 'fingerprints' | 'pinned'> {
  readonly count: number
}
