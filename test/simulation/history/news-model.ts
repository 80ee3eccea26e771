// What docs/protocol.md HUB-7 promises of several hubs: who is revoked at one of them is cut off at each, soon.

import type { AuditEntry } from '../../../src/hub/domain/audit-entry.ts'
import type { EntryReader, Payload } from './contract-model.ts'
import { demand } from './demand.ts'
import type { Kernel, Program } from './kernel.ts'
import { HUB_SLOWNESS } from './simulated-database.ts'

interface Revocation {
  readonly agentId: string
  readonly atMs: number
}

/** A second, as slowly as hubs live here, and as long again for the requests that are under way. */
export const NEWS_MS = 2 * 1000 * HUB_SLOWNESS

export class NewsModel implements EntryReader {
  readonly #kernel: Kernel
  readonly #revocations: Revocation[] = []
  /** Whom each run of a hub has cut off. */
  readonly #cut = new WeakMap<Program, Set<string>>()
  readonly #startedMs = new WeakMap<Program, number>()
  /** Since then nothing has kept hubs and database from speaking with each other. */
  #wellSinceMs = 0

  constructor(kernel: Kernel) {
    this.#kernel = kernel
  }

  add({ eventType }: AuditEntry, payload: Payload): void {
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

  noteTrouble(): void {
    this.#wellSinceMs = this.#nowMs()
  }

  /** Of the hubs that run. */
  check(programs: readonly Program[]): void {
    for (const { agentId, atMs } of this.#revocations) {
      if (!this.#isLongAgo(atMs)) continue
      for (const program of programs) {
        const wasThere = (this.#startedMs.get(program) ?? Infinity) <= atMs
        const isCut = this.#cut.get(program)?.has(agentId) === true
        const where = `${agentId} at ${program.name}`
        demand(isCut || !wasThere, '[HUB-7] revoked elsewhere, and not cut off:', where)
      }
    }
  }

  #isLongAgo(atMs: number): boolean {
    return Math.max(atMs, this.#wellSinceMs) + NEWS_MS <= this.#nowMs()
  }

  #nowMs(): number {
    return this.#kernel.now().getTime()
  }
}
