// Which remembered acts are newer than a backup, and whether they are all that there were. docs/protocol.md BKP-15, BKP-19.

import type { Checkpoint } from '../../audit/checkpoint.ts'
import { formatAct, type RememberedAct } from '../domain/remembered-act.ts'
import type { ActSegment } from './act-segment.ts'

export interface ActsSince {
  /** In the order in which they were done. */
  readonly acts: readonly RememberedAct[]
  /** Why there may have been others; undefined when these are all up to the newest checkpoint that is known. */
  readonly gap: string | undefined
}

export interface BackedUp {
  readonly epoch: number
  /** Of the log, that the backup has. */
  readonly entries: number
}

/** A log goes on in another epoch after a restore, and what was done in either is to be done again. */
export function chooseActs(
  segments: readonly ActSegment[],
  backup: BackedUp,
  kept: Pick<Checkpoint, 'origin' | 'size'> | undefined,
): ActsSince {
  const newer = segments
    .filter(({ epoch }) => epoch >= backup.epoch)
    .sort((one, other) => one.epoch - other.epoch || one.after - other.after)
  if (newer.length === 0) return { acts: [], gap: 'no acts of this vault are kept' }
  const acts = newer.flatMap((segment) =>
    segment.acts.filter(({ seq }) => seq > boundOf(segment, backup)),
  )
  const known = new Map(acts.map((act) => [formatAct(act), act]))
  return { acts: [...known.values()], gap: findGap(newer, backup, kept) }
}

/** Up to this entry the log of that epoch is what the backup has. */
function boundOf({ epoch, base }: ActSegment, { epoch: own, entries }: BackedUp): number {
  return epoch === own ? entries : Math.min(entries, base)
}

function findGap(
  segments: readonly ActSegment[],
  backup: BackedUp,
  kept: Pick<Checkpoint, 'origin' | 'size'> | undefined,
): string | undefined {
  const covered = new Map<string, number>()
  for (const segment of segments) {
    const { origin, epoch, base, after, until } = segment
    // What a later epoch began with, the one before it covers.
    const before = covered.get(origin) ?? (epoch === backup.epoch ? backup.entries : base)
    if (after > before) return `the acts of the entries ${before + 1} to ${after} are not kept`
    covered.set(origin, Math.max(before, until))
  }
  // Acts are written before the checkpoint that covers them: who removes it could put earlier acts back.
  if (kept === undefined) return 'no checkpoint that this vault signed is kept beside the acts'
  const until = covered.get(kept.origin) ?? 0
  return until < kept.size
    ? `the acts of the entries ${until + 1} to ${kept.size} are not kept`
    : undefined
}
