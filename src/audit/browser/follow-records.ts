// Checks the records of a log as they are read, from its beginning or from a place that was kept: chain, tree, and what the log has to
// agree with on its way. In constant memory, and never longer than a moment in one turn of the page. docs/protocol.md CHN-12, CHN-13.

import { fromBase64, toBase64 } from './bytes.ts'
import { ExportFault } from './export-fault.ts'
import { type Chain, followChain, GENESIS_HASH } from './follow-chain.ts'
import { nextTurn } from './next-turn.ts'
import { readRecord } from './read-export-lines.ts'
import { WebTree } from './web-tree.ts'

/** Where a check ended: all that is needed to go on from there. */
export interface LogPlace {
  readonly seq: number
  readonly hash: string
  readonly timestamp: string
  /** Base64: the tree over all entries until here, as its full subtrees. */
  readonly peaks: readonly string[]
}

export const LOG_BEGIN: LogPlace = { seq: 0, hash: GENESIS_HASH, timestamp: '', peaks: [] }

/** The first thing that is wrong. */
export type RecordFault =
  | { readonly kind: 'entry'; readonly seq: number; readonly reason: string }
  /** The entry is good by itself, and has another hash than somebody kept. */
  | { readonly kind: 'kept'; readonly seq: number }
  /** Each entry is good by itself, and they are not those of the checkpoint of so many. */
  | { readonly kind: 'tree'; readonly size: number }

/** What is hashed at once. */
const BATCH_RECORDS = 32
const TURN_MS_MAX = 12

/** Undefined for a place that nobody can go on from. */
export function followRecords(place: LogPlace): RecordFollower | undefined {
  const peaks = place.peaks.map(fromBase64)
  if (!peaks.every((peak) => peak?.length === 32)) return undefined
  const tree = new WebTree(
    place.seq,
    peaks.filter((peak) => peak !== undefined),
  )
  const { seq: count, hash, timestamp } = place
  return new RecordFollower({ count, hash, timestamp }, tree)
}

export class RecordFollower {
  readonly #chain: Chain
  readonly #tree: WebTree
  readonly #hashes = new Map<number, string>()
  readonly #roots = new Map<number, string>()
  #lastRootSize: number | undefined
  #turnBeganAtMs = performance.now()

  constructor(chain: Chain, tree: WebTree) {
    this.#chain = chain
    this.#tree = tree
  }

  /** Of the last good entry. */
  get place(): LogPlace {
    const { count: seq, hash = GENESIS_HASH, timestamp } = this.#chain
    return { seq, hash, timestamp, peaks: this.#tree.peaks.map(toBase64) }
  }
  get count(): number {
    return this.#chain.count
  }

  /** The entry with this number has this hash, or the log is another one. */
  expectHash(seq: number, hash: string): void {
    this.#hashes.set(seq, hash)
  }

  /** The tree of the first `size` entries has this root. A tree of fewer entries than are read already says nothing. */
  async expectRoot(size: number, root: string): Promise<RecordFault | undefined> {
    this.#roots.set(size, root)
    return size === this.count ? this.#compareRoot() : undefined
  }

  /** Of the newest expected root that the tree had. */
  get lastRootSize(): number | undefined {
    return this.#lastRootSize
  }

  /** `onEntry` is called with the time of each good one. */
  async add(
    records: readonly string[],
    onEntry: (timestamp: string) => void,
    isStopped: () => boolean = () => false,
  ): Promise<RecordFault | undefined> {
    for (let at = 0; at < records.length && !isStopped(); at += BATCH_RECORDS) {
      const fault = await this.#addBatch(records.slice(at, at + BATCH_RECORDS), onEntry)
      if (fault !== undefined) return fault
      if (performance.now() - this.#turnBeganAtMs < TURN_MS_MAX) continue
      await nextTurn()
      this.#turnBeganAtMs = performance.now()
    }
    return undefined
  }

  async #addBatch(
    records: readonly string[],
    onEntry: (timestamp: string) => void,
  ): Promise<RecordFault | undefined> {
    const begin = this.count
    const read = records.map((record, at) => readRecord(record, begin + at + 1))
    try {
      // What comes after one that is none is not looked at, and its failure is nobody's.
      for (const one of read) one.catch(() => undefined)
      for (const one of read) {
        const { leaf, ...entry } = await one
        followChain(this.#chain, entry)
        await this.#tree.add(leaf)
        const fault = this.#compareHash() ?? (await this.#compareRoot())
        if (fault !== undefined) return fault
        onEntry(entry.timestamp)
      }
    } catch (error) {
      if (!(error instanceof ExportFault)) throw error
      return { kind: 'entry', seq: error.entry ?? this.count + 1, reason: error.message }
    }
    return undefined
  }

  #compareHash(): RecordFault | undefined {
    const expected = this.#hashes.get(this.count)
    const isGood = expected === undefined || expected === this.#chain.hash
    return isGood ? undefined : { kind: 'kept', seq: this.count }
  }

  async #compareRoot(): Promise<RecordFault | undefined> {
    const size = this.count
    const expected = this.#roots.get(size)
    if (expected === undefined) return undefined
    this.#roots.delete(size)
    if (toBase64(await this.#tree.root()) !== expected) return { kind: 'tree', size }
    this.#lastRootSize = size
    return undefined
  }
}
