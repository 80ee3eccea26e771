// What goes into evidence, before a line of it is written: the checkpoint, the entries of the period, and the entries outside the
// period that say something about its certificates. docs/protocol.md EVD-5.

import { type Checkpoint, parseCheckpoint } from '../../../audit/checkpoint.ts'
import { openNote, parseVerifierKey } from '../../../audit/signed-note.ts'
import type { EvidenceHead } from '../../../evidence/evidence-lines.ts'
import type { SerialSet } from '../../../evidence/serial-set.ts'
import { SvcError, UserError } from '../../../platform/errors.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { Progress } from '../../terminal/progress.ts'
import { findBearing } from './find-bearing.ts'
import type { UnreadEntries } from './scan-entries.ts'

/** What it takes of a hub: pages, and proofs. */
export type EvidenceOperations = Pick<
  AdminOperations,
  'showCheckpoint' | 'showAgent' | 'listEntries' | 'listRecords' | 'showBlockProofs'
>

export interface EvidenceWanted {
  /** Timestamps as the log has them. */
  readonly from: string
  readonly to: string
  /** Hostname or id. */
  readonly agent: string | undefined
  readonly serials: SerialSet | undefined
}

export interface EvidencePlan {
  readonly head: EvidenceHead
  readonly checkpoint: Checkpoint
  /** Records of entries outside the period, and of all entries about the one agent; by `seq`. */
  readonly records: ReadonlyMap<number, string>
  readonly unread: readonly UnreadEntries[]
  readonly serials: SerialSet | undefined
}

/** The entries of the period. */
export interface Period {
  readonly after: number
  readonly until: number
  /** Entries of the checkpoint. */
  readonly size: number
}

export async function planEvidence(
  operations: EvidenceOperations,
  { from, to, agent, serials }: EvidenceWanted,
  progress: Progress,
  recordsMax?: number,
): Promise<EvidencePlan> {
  const { note, key, checkpoint } = await readCheckpoint(operations)
  const shown = agent === undefined ? null : await operations.showAgent({ agente: agent })
  const agente = shown && { id: shown.id, hostname: shown.hostname }
  const period = await findPeriod(operations, { from, to }, checkpoint.size)
  const ca = serials !== undefined
  const head = { from, to, agente, ...period, checkpoint: note, key, ca }
  const bearing = { period, agent: agente ?? undefined, serials }
  const found = await findBearing(operations, bearing, progress, recordsMax)
  return { head, checkpoint, serials, ...found }
}

async function readCheckpoint(
  operations: EvidenceOperations,
): Promise<{ note: string; key: string; checkpoint: Checkpoint }> {
  const { checkpoint: note, key } = await operations.showCheckpoint({})
  if (note === null || key === null) {
    throw new UserError('checkpoint_missing', 'the hub has signed no checkpoint', {
      hint: 'start the hub: it signs the first one within a second',
    })
  }
  const signer = parseVerifierKey(key)
  const opened = signer && openNote(note, [signer])
  const checkpoint = opened && parseCheckpoint(opened.text)
  if (checkpoint !== undefined) return { note, key, checkpoint }
  throw new SvcError('reply_invalid', 'the checkpoint of the hub is not signed with its key')
}

/**
 * Timestamps never decrease, so times are numbers of entries. What cannot be read at the beginning or the end belongs to the period: it
 * may have entries of it.
 */
async function findPeriod(
  { listEntries }: EvidenceOperations,
  { from, to }: Pick<EvidenceWanted, 'from' | 'to'>,
  size: number,
): Promise<Period> {
  const readAt = async (time: string): Promise<{ seq: number; readable: number }> => {
    const since = new Date(time).toISOString()
    const { eventos, missing = [] } = await listEntries({ since, limit: 1 })
    const readable = Math.min(eventos[0]?.seq ?? size + 1, size + 1)
    return { seq: Math.min(missing[0]?.first ?? readable, readable), readable }
  }
  const { seq } = await readAt(from)
  return { after: seq - 1, until: (await readAt(to)).readable - 1, size }
}
