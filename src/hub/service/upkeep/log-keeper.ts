// Entries become leaves of the log's tree after their commit, many at a time: an event waits for no tree, and a vault that had
// none is brought forward by the same steps. docs/protocol.md CHN-16.

import type { Clock } from '../../../platform/clock.ts'
import { describeError, invariant } from '../../../platform/errors.ts'
import type { Logger } from '../../../platform/logger.ts'
import { parseRecord } from '../../../audit/record.ts'
import type { LogTree } from '../../domain/log-tree.ts'
import { OutsideCopy } from './outside-copy.ts'
import { growLogTree, newLogTree } from '../log-tree.ts'
import type { Store, StoreWriter } from '../../store/store.ts'

/** So many take about five milliseconds, and nobody else is served meanwhile. */
const SLICE_ENTRIES = 500
/** Agents choose how long records are: of the longest ones fewer take as long. */
const SLICE_CHARACTERS = 1024 * 1024
const SLICE_ENTRIES_MIN = 16
/** Between two slices while there is more: others are served in it, and after each await of a slice. */
const PAUSE_MS = 2
/** Between two checkpoints. */
const INTERVAL_MS = 1000
const RETRY_MS = 60_000
/** A hub that ends waits no longer than that for a place that does not answer. */
const SETTLE_MS_MAX = 1000
const PROGRESS_ENTRIES = 1_000_000

export interface LogKeeperOptions {
  readonly store: Store
  readonly clock: Clock
  readonly log: Logger
  readonly vaultId: string
  /** Whether another hub takes entries into the tree; this one shows what that one signed. */
  readonly isAnothers?: (() => boolean) | undefined
  /** Keeps a checkpoint outside the vault, after its commit; undefined where nobody asked for that. */
  readonly publish?: ((tree: LogTree) => Promise<void>) | undefined
}

export interface LogKeeper {
  /** Until the signal aborts. A hub that ends goes on from there when it starts again. */
  run(signal: AbortSignal): Promise<void>
  /** The one that agents are shown; undefined until this hub has looked. */
  readonly newest: LogTree | undefined
  /** What another hub has signed, and may have shown, is shown here too. */
  catchUp(): Promise<void>
  /** When the newest checkpoint covered the whole log last, in the vault and outside. */
  readonly coveredAt: { readonly vault: Date | undefined; readonly outside: Date | undefined }
}

export function createLogKeeper(options: LogKeeperOptions): LogKeeper {
  const { store, clock, log, vaultId } = options
  const outside = new OutsideCopy(options)
  let tree: LogTree | undefined
  let vault: Date | undefined
  let told = 0
  let entries = SLICE_ENTRIES
  const showOthers = async (last: number): Promise<number> => {
    const signed = await store.reader.findLogTree()
    if (signed === undefined) return INTERVAL_MS
    // The same object, so that what was made of it is not made again.
    if (tree?.checkpoint !== signed.checkpoint || tree.cosigned !== signed.cosigned) tree = signed
    if (tree.frontier.size === last) vault = clock.now()
    outside.offer(tree)
    return INTERVAL_MS
  }
  /** How long there is nothing to do. */
  const grow = async (): Promise<number> => {
    const last = (await store.reader.findChainEnd())?.seq ?? 0
    if (options.isAnothers?.() === true) return showOthers(last)
    if (tree === undefined || tree.frontier.size < last) {
      const grown = await store.write((writer) => growOnce(writer, vaultId, entries))
      tree = grown.tree
      entries = decideSlice(entries, grown.characters)
    }
    const { size } = tree.frontier
    if (size < last) {
      if (size - told >= PROGRESS_ENTRIES) {
        told = size
        log.info({ entries: size, of: last }, 'Entries taken into the log’s tree')
      }
      return PAUSE_MS
    }
    vault = clock.now()
    outside.offer(tree)
    return INTERVAL_MS
  }
  return {
    run: async (signal) => {
      while (!signal.aborted) {
        const pauseMs = await grow().catch((error: unknown) => {
          const fields = { reason: describeError(error) }
          log.warn(fields, 'Entries not taken into the log’s tree, tried again')
          return RETRY_MS
        })
        await clock.sleep(pauseMs, signal).catch(() => undefined)
      }
      if (outside.underWay === undefined) return
      const settled = new AbortController()
      const giveUp = clock.sleep(SETTLE_MS_MAX, settled.signal).catch(() => undefined)
      await Promise.race([outside.underWay, giveUp])
      settled.abort()
    },
    get newest() {
      return outside.shown
    },
    catchUp: async () => {
      const signed = await store.reader.findLogTree()
      if (signed === undefined) return
      if (signed.frontier.size > (tree?.frontier.size ?? 0)) tree = signed
      await outside.show(tree ?? signed)
    },
    get coveredAt() {
      return { vault, outside: outside.coveredAt }
    },
  }
}

/** How many entries the next slice has, after one of so many that had so much text. */
export function decideSlice(entries: number, characters: number): number {
  if (characters > SLICE_CHARACTERS) return Math.max(SLICE_ENTRIES_MIN, Math.floor(entries / 2))
  return characters > SLICE_CHARACTERS / 2 ? entries : Math.min(SLICE_ENTRIES, entries * 2)
}

interface Grown {
  readonly tree: LogTree
  /** Of the records that it has more. */
  readonly characters: number
}

/** One commit. */
async function growOnce(writer: StoreWriter, vaultId: string, entries: number): Promise<Grown> {
  const known = await writer.findLogTree()
  const before = known ?? newLogTree(vaultId)
  const { size } = before.frontier
  const records = await writer.listRecords(size, entries)
  if (known !== undefined && records.length === 0) return { tree: known, characters: 0 }
  const last = parseRecord(records.at(-1) ?? '')?.seq ?? size
  invariant(last === size + records.length, 'the log has no gaps')
  const { tree, filled } = growLogTree(before, records)
  await writer.putLogTree(tree, filled)
  return { tree, characters: records.reduce((sum, record) => sum + record.length, 0) }
}
