// The journal of a hub that has a standby: the standby is the place of the journal. A record is sent there before it is committed here. What
// happens without the standby, its mode says. docs/protocol.md STB-6, STB-9 to STB-12.

import type { Clock } from '../../platform/clock.ts'
import { describeError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import type {
  Journal,
  JournalPart,
  JournalPosition,
  JournalRecord,
  JournalTurn,
} from '../store/journal.ts'
import { isSamePosition, positionAfter } from '../store/record-seal.ts'
import { StoreError } from '../store/store-error.ts'
import {
  type Claimed,
  describeStandbyFailure,
  OtherHub,
  type StandbyClient,
  StandbyRefusal,
} from './standby-client.ts'
import type { StandbyMode, StandbyState } from '../../protocol/standby.ts'

export interface StandbyJournalOptions {
  readonly client: Pick<StandbyClient, 'claim' | 'read' | 'append' | 'disconnect'>
  readonly mode: StandbyMode
  /** Which journal it is; another one begins when the vault was written without the standby. */
  readonly journal: string
  /** Whether the standby ever had all that was here, and makes that durable. */
  readonly isMet: boolean
  readonly noteMet: () => Promise<void>
  /** The epoch of the log that is here. */
  readonly epoch: () => Promise<number>
  /** Makes it durable that the standby was promoted. */
  readonly noteDeposed: (epoch: number) => Promise<void>
  readonly clock: Clock
  readonly log: Logger
  readonly monotonicMs?: (() => number) | undefined
}

/** A whole image, or more records than are sent within a turn. */
export type Lack = 'image' | 'records'

const NO_TERMS: ReadonlyMap<string, number> = new Map()
const PATIENCE_MS = 10_000
const RETRY_MS = 200
/** So many records are sent within a turn; more of them while others write. */
const IN_TURN_MAX = 64

export class StandbyJournal implements Journal {
  readonly #options: StandbyJournalOptions
  readonly #monotonicMs: () => number
  readonly deposed: Promise<StoreError>
  #noteDeposed!: (error: StoreError) => void
  #deposition: StoreError | undefined
  #state: StandbyState = 'apart'
  /** Of the standby, while it is together with this hub. */
  #end: JournalPosition | undefined
  #listKept: (after: number) => readonly JournalRecord[] = () => []
  #isClosed = false
  /** Since when the standby has not what is here. */
  #awaySinceMs: number | undefined
  /** It could not run a record. */
  #isDiverged = false
  /** Nobody waits for a standby that was away when it was asked last. */
  #isSkipped = false
  #isBusy = false
  #isMet: boolean
  #lack: Lack | undefined
  #reason: string | undefined

  constructor(options: StandbyJournalOptions) {
    this.#options = options
    this.#isMet = options.isMet
    this.#monotonicMs = options.monotonicMs ?? (() => performance.now())
    this.deposed = new Promise((resolve) => {
      this.#noteDeposed = resolve
    })
  }

  get state(): StandbyState {
    return this.#state
  }

  /** What this database has to keep of the record that is next. */
  get keptBytes(): number {
    return this.#state === 'together' ? 0 : KEPT_BYTES_MAX
  }

  /** Where the records are that this hub keeps. */
  keepIn(listKept: (after: number) => readonly JournalRecord[]): void {
    this.#listKept = listKept
  }

  async read(after: number, here: JournalPosition): Promise<JournalPart> {
    const end = await this.#meet(here)
    if (end.number <= after) return { end, records: [] }
    const records = await this.#ask(() => this.#options.client.read(after))
    if (records[0]?.number !== after + 1) {
      throw new StoreError(
        'store_behind',
        `the standby has ${end.number} records, and record ${after + 1}, which this vault needs next, no more`,
        { hint: 'this vault was put back to an earlier state: promote the standby' },
      )
    }
    return { end, records }
  }

  async takeTurn(_manners: unknown, here: JournalPosition): Promise<JournalTurn> {
    const end = await this.#meet(here)
    return {
      end,
      terms: NO_TERMS,
      append: (record, after) => this.#append(record, after),
      release: async () => undefined,
    }
  }

  /** What the standby has, when it answers. Not within a turn; never throws. */
  async look(): Promise<Claimed | undefined> {
    this.#lack = undefined
    try {
      if (this.#state !== 'together') return await this.#claim()
      const { number = 0 } = this.#end ?? {}
      await this.#ask(() => this.#options.client.read(number))
    } catch (error) {
      this.#lose(error)
    }
    return undefined
  }

  /** Why a start without the standby ends. Undefined when the standby has everything, or need not. */
  get fault(): StoreError | undefined {
    if (this.#deposition !== undefined) return this.#deposition
    if (this.#state !== 'apart') return undefined
    const reason = this.#reason ?? 'it was not asked yet'
    return new StoreError(
      'store_unavailable',
      `the standby has not what this vault has: ${reason}`,
      {
        hint: 'start the standby; SVC_STANDBY=preferred starts this hub without it, which must not be when the standby was promoted',
      },
    )
  }

  /** Of the last time that the standby was away. */
  get reason(): string | undefined {
    return this.#reason
  }

  /** What kept the standby from being together with this hub. */
  get lack(): Lack | undefined {
    return this.#lack
  }

  /** Of a standby that answers: it is asked again within a turn. */
  retry(): void {
    this.#isSkipped = false
  }

  /** It has a copy of what is here. */
  noteImage(): void {
    this.#isDiverged = false
  }

  /** Nobody else speaks to the standby meanwhile. */
  async bring<T>(work: () => Promise<T>): Promise<T> {
    this.#isBusy = true
    try {
      return await work()
    } finally {
      this.#isBusy = false
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#options.client.disconnect()
  }

  /** Where the journal ends for this hub. */
  async #meet(here: JournalPosition): Promise<JournalPosition> {
    if (this.#deposition !== undefined) throw this.#deposition
    if (this.#state === 'together' && this.#end !== undefined) return this.#end
    if (this.#mode === 'preferred' && (this.#isSkipped || this.#isBusy)) return here
    if (this.#isBusy) throw new StoreError('store_unavailable', 'the standby is being brought up')
    this.#lack = undefined
    try {
      const claimed = await this.#claimPatiently()
      const end = await this.#catchUp(here, claimed)
      await this.#noteMet()
      this.#become('together')
      this.#end = end
      return end
    } catch (error) {
      if (error instanceof StoreError && isFinal(error)) throw error
      this.#lose(error)
      if (this.#mode === 'preferred') return here
      throw describeStandbyFailure(error)
    }
  }

  /** What the standby has once it has all that is here; more than that, when its answer was lost. */
  async #catchUp(here: JournalPosition, claimed: Claimed): Promise<JournalPosition> {
    let { end } = claimed
    if (claimed.journal !== this.#options.journal || end === undefined || this.#isDiverged) {
      throw this.#lacks('image')
    }
    if (end.number > here.number || isSamePosition(end, here)) return end
    for (let sent = 0; sent < IN_TURN_MAX && end.number < here.number;) {
      const records = this.#listKept(end.number)
      if (records.length === 0) throw this.#lacks('image')
      for (const record of records) {
        end = await this.#options.client.append(record)
        sent += 1
      }
    }
    if (isSamePosition(end, here)) return end
    throw this.#lacks(end.number < here.number ? 'records' : 'image')
  }

  #lacks(what: Lack): StoreError {
    this.#lack = what
    const words = { image: 'has no copy of this vault yet', records: 'lacks records' }[what]
    return new StoreError('store_unavailable', `the standby ${words}`)
  }

  async #append(record: JournalRecord, end: JournalPosition): Promise<void> {
    if (this.#deposition !== undefined) throw this.#deposition
    // It is kept here.
    if (this.#state === 'alone') return
    const { client } = this.#options
    const beganMs = this.#monotonicMs()
    this.#end = undefined
    try {
      this.#end = await client.append(record)
      if (isSamePosition(this.#end, end)) return
      throw new Error('the standby has another record')
    } catch (error) {
      await this.#noteIfPromoted(error)
      this.#lose(error, beganMs)
      if (this.#mode === 'preferred') return
      // Also after a refusal: it may have been taken back too late.
      await this.#findOut(record, end, error)
    }
  }

  /** Of a record whose answer was lost. */
  async #findOut(record: JournalRecord, end: JournalPosition, cause: unknown): Promise<void> {
    const unknown = `the standby did not say whether it has record ${record.number}`
    let claimed: Claimed
    try {
      claimed = await this.#claimPatiently()
    } catch (error) {
      if (this.#deposition !== undefined) throw this.#deposition
      throw new StoreError('store_unknown', unknown, { cause: error })
    }
    const { end: there } = claimed
    if (there === undefined) throw new StoreError('store_unknown', unknown, { cause })
    if (isSamePosition(there, end)) {
      this.#become('together')
      this.#end = there
      return
    }
    // What was sent on the connection before is not taken any more.
    if (isSamePosition(positionAfter(there, record), end)) throw describeStandbyFailure(cause)
    throw new StoreError('store_unknown', unknown, { cause })
  }

  async #claimPatiently(): Promise<Claimed> {
    const awaySinceMs = this.#awaySinceMs ?? this.#monotonicMs()
    // Who goes on alone anyway does not wait for long.
    const patienceMs = this.#mode === 'preferred' ? 0 : PATIENCE_MS
    for (;;) {
      try {
        return await this.#claim()
      } catch (error) {
        if (this.#deposition !== undefined) throw this.#deposition
        if (this.#isClosed || this.#monotonicMs() - awaySinceMs >= patienceMs) throw error
        await this.#options.clock.sleep(RETRY_MS)
      }
    }
  }

  /** Nothing was promised before the standby had it all once: a hub that was promoted serves before it has a standby of its own. */
  get #mode(): StandbyMode {
    return this.#isMet ? this.#options.mode : 'preferred'
  }

  async #noteMet(): Promise<void> {
    if (this.#isMet) return
    await this.#options.noteMet()
    this.#isMet = true
    await this.#options.client.claim(this.#mode)
  }

  async #claim(): Promise<Claimed> {
    if (this.#isClosed) throw new StoreError('store_unavailable', 'the hub stops')
    const { client, epoch } = this.#options
    try {
      return await client.claim(this.#mode)
    } catch (error) {
      if (!(error instanceof OtherHub)) throw error
      if (error.epoch > (await epoch())) await this.#depose(error.epoch)
      // A standby may connect then.
      client.disconnect()
      throw error
    }
  }

  async #ask<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      await this.#noteIfPromoted(error)
      this.#lose(error)
      throw describeStandbyFailure(error)
    }
  }

  async #noteIfPromoted(error: unknown): Promise<void> {
    if (error instanceof StandbyRefusal && error.kind === 'promoted') await this.#depose(0)
  }

  /** For good. Throws StoreError `hub_deposed`. */
  async #depose(epoch: number): Promise<never> {
    const error = new StoreError('hub_deposed', 'the standby was promoted: it is the hub now', {
      hint: 'move this vault aside, and make this machine the standby: svc standby init',
    })
    this.#deposition ??= error
    this.#state = 'apart'
    this.#end = undefined
    try {
      await this.#options.noteDeposed(epoch)
    } finally {
      // Also where the disk takes nothing.
      this.#noteDeposed(this.#deposition)
    }
    throw this.#deposition
  }

  #lose(error: unknown, sinceMs = this.#monotonicMs()): void {
    this.#end = undefined
    this.#isSkipped = true
    this.#awaySinceMs ??= sinceMs
    if (error instanceof StandbyRefusal && error.kind === 'diverged') this.#isDiverged = true
    this.#reason = describeError(error)
    this.#become(this.#mode === 'preferred' ? 'alone' : 'apart', this.#reason)
  }

  #become(state: StandbyState, reason?: string): void {
    if (state === 'together') this.#awaySinceMs = undefined
    if (state === this.#state) return
    this.#state = state
    const { log } = this.#options
    if (state === 'together') log.info('Standby has all that is here')
    else if (state === 'alone') log.error({ reason }, 'Standby away: this hub goes on alone')
    else log.error({ reason }, 'Standby away: this hub writes nothing')
  }
}

/** Of what a standby that was away for a while lacks; a longer absence takes an image. */
const KEPT_BYTES_MAX = 64 * 1024 * 1024

/** Nobody need ask the standby again. */
export function isFinal({ code }: StoreError): boolean {
  return code === 'hub_deposed' || code === 'store_behind'
}
