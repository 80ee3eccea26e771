// What docs/protocol.md WHK promises, by the audit log and by what arrived: each entry since a webhook was made, at least
// once and in order, and nothing more once it is removed.

import { parseRecord, type RecordedEntry } from '../../../src/audit/record.ts'
import type { AuditEntry } from '../../../src/hub/domain/audit-entry.ts'
import type { EntryReader, Payload } from './contract-model.ts'
import { demand } from './demand.ts'

interface Endpoint {
  readonly id: string
  readonly types: readonly string[]
  /** Nothing up to here is sent, unless an operator has it sent again. */
  floorSeq: number
  /** Of its types everything up to here has arrived. */
  doneSeq: number
  isDisabled: boolean
  readonly messageIds: Map<number, string>
}

/** What arrived, and where: of a URL the log tells the origin alone, and each endpoint has its own here. */
export interface ReceivedMessage {
  readonly origin: string
  readonly id: string
  readonly body: string
}

const ENDS: ReadonlySet<string> = new Set(['webhook_removed', 'webhook_disabled'])
const LAG_MS_MAX = 120_000

export class WebhookModel implements EntryReader {
  messages = 0
  /** When a webhook was removed or disabled last, by the clock of a hub. */
  lastEndMs = Number.NEGATIVE_INFINITY
  readonly #entries = new Map<number, AuditEntry>()
  #lastSeq = 0
  /** Those that the log has, by origin. */
  readonly #endpoints = new Map<string, Endpoint>()
  /** Those whose removal was answered. */
  readonly #removed = new Set<string>()
  readonly #gone = new Map<string, Endpoint>()
  /** How far each was, and by which ids, when the hub was restored. */
  readonly #before = new Map<string, Pick<Endpoint, 'doneSeq' | 'messageIds'>>()
  readonly #oldRecords: readonly string[]

  /** Of the first entries of the log, which nobody adds; an operator may have them sent. */
  constructor(oldRecords: readonly string[]) {
    this.#oldRecords = oldRecords
  }

  add(entry: AuditEntry, payload: Payload): void {
    this.#entries.set(entry.seq, entry)
    this.#lastSeq = entry.seq
    const origin = String(payload['origin'])
    if (entry.eventType === 'webhook_created') {
      const endpoint = newEndpoint(entry.seq, payload)
      this.#endpoints.set(origin, { ...endpoint, ...this.#before.get(origin) })
      return
    }
    const endpoint = this.#endpoints.get(origin)
    if (endpoint === undefined) return
    if (ENDS.has(entry.eventType)) this.lastEndMs = Date.parse(entry.timestamp)
    if (entry.eventType === 'webhook_removed') {
      this.#endpoints.delete(origin)
      this.#gone.set(origin, endpoint)
    }
    if (entry.eventType === 'webhook_disabled') endpoint.isDisabled = true
    if (entry.eventType === 'webhook_replayed') {
      endpoint.isDisabled = false
      endpoint.floorSeq = Math.min(endpoint.floorSeq, Number(payload['after_seq']))
    }
  }

  /** What arrived up to there has arrived; what came later may come again, and a webhook that was removed is there again. */
  beginAgain(kept: number): void {
    // A hub that was restored, and lost before it had started, has not told of its webhooks: what was known before holds.
    for (const [origin, { doneSeq, messageIds }] of [...this.#gone, ...this.#endpoints]) {
      const ids = [...messageIds].filter(([seq]) => seq <= kept)
      this.#before.set(origin, { doneSeq: Math.min(doneSeq, kept), messageIds: new Map(ids) })
    }
    this.#entries.clear()
    this.#endpoints.clear()
    this.#removed.clear()
    this.#gone.clear()
  }

  knows(id: string): boolean {
    return [...this.#endpoints.values()].some((endpoint) => endpoint.id === id)
  }

  /** The ids of those that wanted nothing any more. */
  listDisabled(): string[] {
    return [...this.#endpoints.values()].filter(({ isDisabled }) => isDisabled).map(({ id }) => id)
  }

  noteRemoved(origin: string): void {
    demand(!this.#endpoints.has(origin), '[WHK-17] removed, and not in the log:', origin)
    this.#removed.add(origin)
  }

  /** The log has been read up to now. `isLate`: another hub may have ended the webhook, and the sender not know it yet. */
  noteMessage({ origin, id, body }: ReceivedMessage, isLate: boolean): void {
    this.messages += 1
    const { type, data } = JSON.parse(body) as {
      readonly type: string
      readonly data: { readonly seq: number; readonly hash_atual: string }
    }
    const what = `${origin} ${data.seq} ${type}`
    demand(isLate || !this.#removed.has(origin), '[WHK-17] sent after it was removed:', what)
    const endpoint = this.#endpoints.get(origin)
    // What was under way when it was removed may arrive until that is answered.
    if (endpoint === undefined) return
    const entry = this.#entryAt(data.seq)
    demand(entry?.hash === data.hash_atual && entry.eventType === type, '[WHK-2] no entry:', what)
    demand(isExpected(endpoint, type), '[WHK-1] none of its types:', what)
    demand(data.seq > endpoint.floorSeq, '[WHK-1] older than the webhook:', what)
    demand(isLate || !endpoint.isDisabled, '[WHK-9] sent to one who wants nothing more:', what)
    const knownId = endpoint.messageIds.get(data.seq) ?? id
    demand(knownId === id, '[WHK-3] another id for the same entry:', what)
    endpoint.messageIds.set(data.seq, id)
    if (data.seq <= endpoint.doneSeq) return
    const next = this.#nextOf(endpoint)
    demand(next?.seq === data.seq, '[WHK-5] [WHK-6] left out:', `${next?.seq}, before ${what}`)
    endpoint.doneSeq = data.seq
  }

  /** [WHK-5] What should have arrived by now. */
  findTrouble(now: Date): string | undefined {
    for (const [origin, endpoint] of this.#endpoints) {
      if (endpoint.isDisabled) return `${origin} is disabled`
      const next = this.#nextOf(endpoint)
      const isLate = next !== undefined && Date.parse(next.timestamp) < now.getTime() - LAG_MS_MAX
      if (isLate) return `${origin} has not got entry ${next.seq}`
    }
    return undefined
  }

  #entryAt(seq: number): RecordedEntry | undefined {
    return this.#entries.get(seq) ?? parseRecord(this.#oldRecords[seq - 1] ?? '')
  }

  #nextOf(endpoint: Endpoint): AuditEntry | undefined {
    for (let seq = endpoint.doneSeq + 1; seq <= this.#lastSeq; seq += 1) {
      const entry = this.#entries.get(seq)
      if (entry !== undefined && isExpected(endpoint, entry.eventType)) return entry
    }
    return undefined
  }
}

function newEndpoint(seq: number, payload: Payload): Endpoint {
  return {
    id: String(payload['webhook_id']),
    types: payload['tipos'] as string[],
    floorSeq: seq,
    doneSeq: seq,
    isDisabled: false,
    messageIds: new Map(),
  }
}

function isExpected({ types }: Endpoint, eventType: string): boolean {
  return eventType !== 'webhook_dead' && (types.length === 0 || types.includes(eventType))
}
