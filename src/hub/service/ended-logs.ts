// Which logs end when a vault goes on from an earlier state of itself: the one of that state, and those that an earlier restore, or a
// loss that was accepted, began since. Each has a beginning in common with what goes on. docs/protocol.md CHN-21.

import type { Checkpoint } from '../../audit/checkpoint.ts'
import { epochOf } from '../../audit/log-origin.ts'
import type { SizedRoot } from '../../audit/merkle-proofs.ts'
import { SvcError } from '../../platform/errors.ts'
import { KEPT_LEVEL_MIN, type LogTree } from '../domain/log-tree.ts'
import type { StoreReader } from '../store/store.ts'
import type { ActSegment } from './act-segment.ts'
import { openOfAnyEpoch, openStatement } from './log-tree.ts'
import { readRootAt } from './read-log-nodes.ts'

export interface EndedLog {
  /** The longest checkpoint of it that is known. */
  readonly last: Checkpoint
  /** What the log that goes on has of it. */
  readonly base: SizedRoot
}

/** What an epoch began from, and with how many entries. */
export interface EpochBeginning {
  readonly epoch: number
  readonly from: number
  readonly base: number
}

/** Of the checkpoints those count that this vault has signed. The segments say how their epochs began. */
export async function findEndedLogs(
  reader: StoreReader,
  tree: LogTree,
  checkpoints: readonly string[],
  segments: readonly ActSegment[],
): Promise<readonly EndedLog[]> {
  const longest = new Map<number, Checkpoint>()
  for (const note of checkpoints) {
    const checkpoint = openOfAnyEpoch(tree, note)
    const epoch = checkpoint === undefined ? 0 : epochOf(checkpoint.origin)
    const known = longest.get(epoch)
    if (checkpoint === undefined || epoch < tree.epoch) continue
    if (known === undefined || known.size < checkpoint.size) longest.set(epoch, checkpoint)
  }
  const beginnings = [...beginningsOf(tree), ...segments]
  const ended: EndedLog[] = []
  for (const [epoch, last] of longest) {
    const own = { epoch: tree.epoch, entries: tree.frontier.size }
    const common = Math.min(countCommonEntries(beginnings, own, epoch), last.size)
    ended.push({ last, base: await readBase(reader, common) })
  }
  return ended
}

/** With how many entries in common a log of that epoch and this one began; 0 when that is not known. */
export function countCommonEntries(
  beginnings: readonly EpochBeginning[],
  own: { readonly epoch: number; readonly entries: number },
  other: number,
): number {
  const had = new Map(beginnings.map((beginning) => [beginning.epoch, beginning]))
  const ours = countKept(had, own.epoch, own.entries)
  const theirs = countKept(had, other, Number.MAX_SAFE_INTEGER)
  const common = [...ours].map(([epoch, count]) => Math.min(count, theirs.get(epoch) ?? 0))
  return Math.max(0, ...common)
}

/** Of each epoch that one came from, and of itself, how many entries it has. */
function countKept(
  had: ReadonlyMap<number, EpochBeginning>,
  epoch: number,
  entries: number,
): ReadonlyMap<number, number> {
  const kept = new Map<number, number>()
  let [at, count] = [epoch, entries]
  while (at > 0 && !kept.has(at)) {
    kept.set(at, count)
    const beginning = had.get(at)
    if (beginning === undefined) break
    at = beginning.from
    count = Math.min(count, beginning.base)
  }
  return kept
}

function beginningsOf(tree: LogTree): readonly EpochBeginning[] {
  return tree.epochs
    .map((note) => openStatement(tree, note))
    .filter((statement) => statement !== undefined)
    .map(({ origin, previous, base }) => ({
      epoch: epochOf(origin),
      from: epochOf(previous),
      base: base.size,
    }))
    .toReversed()
}

/** Of entries that are archived the vault has the hashes of whole subtrees alone. */
async function readBase(reader: StoreReader, size: number): Promise<SizedRoot> {
  try {
    return { size, root: await readRootAt(reader, size) }
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    const whole = size - (size % 2 ** KEPT_LEVEL_MIN)
    return { size: whole, root: await readRootAt(reader, whole) }
  }
}
