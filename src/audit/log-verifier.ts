// Checks a log, or a part of one, entry by entry, oldest first, in constant memory: its hash chain, and its tree against what was
// signed of it. docs/protocol.md CHN-6, CHN-16.

import { type ChainFault, ChainVerifier } from './hash-chain.ts'
import type { SizedRoot } from './merkle-proofs.ts'
import { completeTree, EMPTY_FRONTIER, type Frontier, growTree, rootOf } from './merkle-tree.ts'
import { formatRecord, hashRecord, type RecordedEntry } from './record.ts'

/** Leaves that are hashed together. */
const BATCH_ENTRIES = 1000

export class LogVerifier {
  readonly #chain: ChainVerifier
  /** What is yet to be reached, the smallest first. */
  readonly #expected: SizedRoot[]
  #frontier: Frontier
  #leaves: Buffer[] = []
  #treeFault: string | undefined

  /**
   * Each `expected` is the root that the tree has to have at that size; `before` is the tree of the entries before, and `head` the hash
   * of the last one, where that is known.
   */
  constructor(expected: readonly SizedRoot[], before: Frontier = EMPTY_FRONTIER, head?: string) {
    this.#chain = new ChainVerifier(before.size, head)
    this.#frontier = before
    this.#expected = expected.toSorted((one, other) => one.size - other.size)
    this.#compare()
  }

  get count(): number {
    return this.#chain.count
  }
  get head(): string {
    return this.#chain.head
  }
  /** The first entry that is wrong by itself. */
  get chainFault(): ChainFault | undefined {
    return this.#chain.fault
  }

  add(entry: RecordedEntry, record: string = formatRecord(entry)): void {
    this.#chain.add(entry)
    this.#leaves.push(hashRecord(record))
    const size = this.#frontier.size + this.#leaves.length
    if (this.#leaves.length < BATCH_ENTRIES && size !== this.#expected[0]?.size) return
    this.#grow()
    this.#compare()
  }

  /**
   * Entries that nobody can show now, up to `seq`: the tree has the subtrees of `nodesOf` in their place, and the chain goes on from
   * `head`. Of a root that was signed within them nothing is said.
   */
  skipTo(seq: number, hashes: readonly Buffer[], head: string): void {
    this.#grow()
    const skipped = completeTree(this.#frontier, seq, hashes)
    if (skipped === undefined)
      this.#treeFault ??= 'the hashes in place of entries are not as many as there are'
    else this.#frontier = skipped
    this.#chain.skipTo(seq, head)
    while ((this.#expected[0]?.size ?? seq) < seq) this.#expected.shift()
    this.#compare()
  }

  /** After the last entry: why the log is not what was signed of it. */
  findTreeFault(): string | undefined {
    const [missing] = this.#expected
    if (this.#treeFault !== undefined || missing === undefined) return this.#treeFault
    return `a checkpoint was signed for ${missing.size} entries, and the log has ${this.count}`
  }

  /** The tree of all entries before and of those that were added. */
  readTree(): Frontier {
    this.#grow()
    return this.#frontier
  }

  #grow(): void {
    this.#frontier = growTree(this.#frontier, this.#leaves).frontier
    this.#leaves = []
  }

  #compare(): void {
    while (this.#expected[0]?.size === this.#frontier.size) {
      const expected = this.#expected.shift()
      if (expected === undefined || rootOf(this.#frontier).equals(expected.root)) continue
      this.#treeFault ??= `the first ${expected.size} entries are not those that a checkpoint was signed for`
    }
  }
}
