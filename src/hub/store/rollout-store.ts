// What the store keeps of rollouts and of freezes.

import type { AgentId, CargoId, DeliveryId, RolloutId } from '../../protocol/identifiers.ts'
import type { CargoContent, ContentSummary } from '../domain/cargo.ts'
import type { Freeze } from '../domain/freeze.ts'
import type { LoadRollout, Rollout, RolloutCounts, RolloutKind } from '../domain/rollout.ts'
import type { Page, Replacement } from './store.ts'

export interface RolloutReader {
  find(id: RolloutId): Promise<Rollout | undefined>
  /** The one of the carga that can still go on. */
  findOpen(id: CargoId): Promise<LoadRollout | undefined>
  /** Of a kind that has no carga there is one at a time. */
  findOpenOf(kind: Exclude<RolloutKind, 'load'>): Promise<Rollout | undefined>
  /** Oldest first. */
  listOpen(): Promise<Rollout[]>
  /** Newest first; undefined when there is no rollout `after`. */
  page(page: Page): Promise<Rollout[] | undefined>
  /** Of a selado. */
  findContent(id: RolloutId): Promise<CargoContent | undefined>
  summarizeContent(id: RolloutId): Promise<ContentSummary | undefined>
  /** Of each wave that has hosts; `silent` are pending ones that were not heard of since this instant, where it is given. */
  countWaves(id: RolloutId, silentSince?: Date): Promise<RolloutWaveCounts[]>
  /** At most `limit` of the entregas that failed, and as many of those with a target that is taken back. */
  listFailed(id: RolloutId, limit: number): Promise<DeliveryId[]>
  /** Of these the ones that the rollout, which is none of a carga, has reached. */
  listReached(id: RolloutId, agents: readonly AgentId[]): Promise<AgentId[]>
  /** The number of the set of this época that the last wave of roots to reach the host offered it. */
  findOfferedNumber(id: AgentId, epoch: number): Promise<number | undefined>
  /** What the agent is told of a newer version of itself: that of the last wave of updates that reached it, unless it has it or the rollout is held. */
  findAnnounced(id: AgentId): Promise<AnnouncedProgram | undefined>
  /** At most `limit` of the hosts that the rollout, which is none of a carga, waits for. */
  listPending(id: RolloutId, limit: number): Promise<AgentId[]>
  /** At most `limit` of those that refused what such a rollout brings, or failed to install it. */
  listRefusing(id: RolloutId, limit: number): Promise<RefusingHost[]>
  /** At most `limit` of those that do not follow announced updates. */
  listDeclined(id: RolloutId, limit: number): Promise<RefusingHost[]>
  /** The one that nobody has ended; its time may be over. */
  findFreeze(): Promise<Freeze | undefined>
}

export interface RolloutWaveCounts extends RolloutCounts {
  readonly wave: number
}

export interface AnnouncedProgram {
  readonly rollout: RolloutId
  readonly version: string
}

export interface RefusingHost {
  readonly agentId: AgentId
  /** What it said of an update; null of roots, whose reasons are with what it trusts. */
  readonly error: string | null
}

/** What became of an announced update on its host. */
export interface UpdateReport {
  readonly version: string
  /** Undefined: any that announced the version. */
  readonly rollout: RolloutId | undefined
  readonly state: 'done' | 'failed' | 'declined'
  readonly error: string | null
}

export interface AskedHost {
  readonly agentId: AgentId
  /** Of a rotation the newest identity that it has, by `IssuedCertificate.seq`; of roots the number of the set that it is to adopt; of an update 0. */
  readonly mark: number
  /** It has adopted the set already. */
  readonly isDone?: boolean
  /** Why it is not to be waited for: it has declined as it is. */
  readonly declined?: string | undefined
  /** The rotation that is asked of it was asked by this rollout, which may take that back. */
  readonly isOwnRequest?: boolean
}

export interface RolloutWriter extends RolloutReader {
  insert(rollout: Rollout): Promise<void>
  /** Replaces everything but the id. */
  update(rollout: Rollout): Promise<void>
  setContent(id: RolloutId, content: CargoContent): Promise<void>
  removeContent(id: RolloutId): Promise<void>
  /** As `replaceDeliveries`; the new ones are of the rollout's wave. */
  give(
    rollout: Pick<Rollout, 'id' | 'wave'>,
    given: readonly Replacement[],
    at: Date,
  ): Promise<void>
  /** They are of the rollout's wave from now on, and pending until they use another identity, or adopt the set. */
  ask(rollout: Pick<Rollout, 'id' | 'wave'>, asked: readonly AskedHost[]): Promise<void>
  /** No more is waited for at most `limit` hosts that have not fulfilled the request, and it is taken back where it is the rollout's own; answers which. */
  withdraw(id: RolloutId, limit: number): Promise<AgentId[]>
  /** The host says so of the version that was announced to it; nothing of any other version. */
  settleUpdate(id: AgentId, report: UpdateReport): Promise<void>
  /** The host installed the entrega, and is to report these targets. Nothing for an entrega of no rollout, as the next two. */
  awaitTargets(id: DeliveryId, targets: readonly string[]): Promise<void>
  /** It is in place, or gone from the host; undefined for each that was taken back. */
  settleTarget(id: DeliveryId, target: string | undefined): Promise<void>
  revertTarget(id: DeliveryId, target: string): Promise<void>
  /** In the place of the one that may still hold. */
  insertFreeze(freeze: Omit<Freeze, 'id'>): Promise<void>
  endFreeze(id: Freeze['id'], at: Date): Promise<void>
}
