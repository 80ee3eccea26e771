// What docs/protocol.md HUB-7 promises of several hubs: who is revoked at one of them is cut off at each, soon, and what is news for an agent is told on
// its stream, wherever it holds one.

import type { AuditEntry } from '../../../src/hub/domain/audit-entry.ts'
import type { EntryReader, Payload } from './contract-model.ts'
import { DeliveryStatus } from '../../../src/protocol/words.ts'
import { demand } from './demand.ts'
import type { HubInPlace } from './faulty-network.ts'
import type { HeldStream } from './held-streams.ts'
import type { Kernel, Program } from './kernel.ts'
import { HUB_SLOWNESS } from './simulated-database.ts'

interface Revocation {
  readonly agentId: string
  readonly atMs: number
}

/** At the open deliveries of the agent of a stream. */
interface Look {
  readonly atMs: number
  /** Between which looks each of them did; undefined for those that the first one found. */
  readonly appeared: ReadonlyMap<string, Appearance | undefined>
}

interface Appearance {
  readonly afterMs: number
  readonly seenMs: number
}

const OPEN_STATUSES = [DeliveryStatus.pending, DeliveryStatus.inProgress] as const
/** A second, as slowly as hubs live here, and as long again for the requests that are under way. */
export const NEWS_MS = 2 * 1000 * HUB_SLOWNESS

/** From a CA that fails now and then: a hub tries every few seconds. */
const CERTIFICATE_MS = 10 * 60_000

export class NewsModel implements EntryReader {
  /** That were looked at. */
  streams = 0
  readonly #kernel: Kernel
  readonly #revocations: Revocation[] = []
  /** Whom each run of a hub has cut off. */
  readonly #cut = new WeakMap<Program, Set<string>>()
  readonly #startedMs = new WeakMap<Program, number>()
  readonly #looks = new WeakMap<HeldStream, Look>()
  /** Since then nothing has kept hubs and database from speaking with each other. */
  #wellSinceMs = 0
  #rootsSinceMs = 0

  constructor(kernel: Kernel) {
    this.#kernel = kernel
  }

  add({ eventType }: AuditEntry, payload: Payload): void {
    if (eventType === 'bundle_changed') this.noteRootTrouble(this.#nowMs())
    if (eventType !== 'agent_revoked') return
    this.#revocations.push({ agentId: String(payload['agente_id']), atMs: this.#nowMs() })
  }

  beginAgain(): void {
    this.#revocations.length = 0
  }

  /** From now on it has connections with agents. */
  noteStart(program: Program): void {
    this.#startedMs.set(program, this.#nowMs())
    this.#cut.set(program, new Set())
  }

  noteCut(agentId: string, program: Program): void {
    this.#cut.get(program)?.add(agentId)
  }

  /** Something keeps hubs and database from speaking with each other, until then. */
  noteTrouble(untilMs: number): void {
    this.#wellSinceMs = Math.max(this.#wellSinceMs, untilMs)
  }

  /** The same of roots, for which a hub may need another certificate, and room for it. */
  noteRootTrouble(untilMs: number): void {
    this.#rootsSinceMs = Math.max(this.#rootsSinceMs, untilMs)
  }

  /** [HUB-8] Whether each hub that runs has had the time to take over the roots in force, and to get a certificate that leads to one of them. */
  areRootsDue(): boolean {
    return this.isDue(this.#rootsSinceMs + CERTIFICATE_MS)
  }

  /** Whether each hub that runs has had the time to hear of something that was known by then. */
  isDue(atMs: number): boolean {
    return Math.max(atMs, this.#wellSinceMs) + NEWS_MS <= this.#nowMs()
  }

  /** Of the hubs that run. */
  check(places: readonly HubInPlace[]): void {
    for (const { agentId, atMs } of this.#revocations) {
      if (!this.isDue(atMs)) continue
      for (const { program, streams } of places) {
        const wasThere = (this.#startedMs.get(program) ?? Infinity) <= atMs
        const isCut = this.#cut.get(program)?.has(agentId) === true
        const where = `${agentId} at ${program.name}`
        demand(isCut || !wasThere, '[HUB-7] revoked elsewhere, and not cut off:', where)
        // One that was opened later is of somebody who enrolled again.
        const isHeard = streams
          ?.list()
          .some((stream) => stream.agentId === agentId && stream.openedAtMs < atMs)
        demand(isHeard !== true, '[HUB-7] revoked, and the stream goes on:', where)
      }
    }
  }

  /** [PSH-6] What an agent is to work on, it is told of on its stream, whichever hub that is at. */
  async checkStreams(places: readonly HubInPlace[]): Promise<void> {
    for (const { program, hub, streams } of places) {
      for (const stream of streams?.list() ?? []) {
        const { agentId } = stream
        const statuses = OPEN_STATUSES
        const listed = await hub.store.reader.listDeliveries({ agentId, statuses })
        const told = this.#look(stream, listed)
        const where = `${agentId} at ${program.name}`
        this.#kernel.look(() => demand(told, '[HUB-7] news, and not told on the stream:', where))
      }
    }
  }

  /** Whether the stream was told of all that it had to be by now. */
  #look(stream: HeldStream, deliveries: readonly { readonly id: string }[]): boolean {
    const before = this.#looks.get(stream)
    if (before === undefined) this.streams += 1
    const atMs = this.#nowMs()
    const appeared = new Map(
      deliveries.map(({ id }) => {
        const isOld = before === undefined || before.appeared.has(id)
        return [id, isOld ? before?.appeared.get(id) : { afterMs: before.atMs, seenMs: atMs }]
      }),
    )
    this.#looks.set(stream, { atMs, appeared })
    return [...appeared.values()].every(
      (news) => news === undefined || stream.toldAtMs >= news.afterMs || !this.isDue(news.seenMs),
    )
  }

  #nowMs(): number {
    return this.#kernel.now().getTime()
  }
}
