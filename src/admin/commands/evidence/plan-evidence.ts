// What goes into evidence, before a line of it is written: the checkpoint, the entries of the period, and the entries outside the
// period that say something about its certificates. docs/protocol.md EVD-5.

import { type Checkpoint, parseCheckpoint } from '../../../audit/checkpoint.ts'
import { openNote, parseVerifierKey } from '../../../audit/signed-note.ts'
import type { EvidenceHead } from '../../../evidence/evidence-lines.ts'
import { SvcError, UserError } from '../../../platform/errors.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { Progress } from '../../terminal/progress.ts'
import { findBearing } from './find-bearing.ts'

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
  readonly serials: ReadonlySet<string> | undefined
}

export interface EvidencePlan {
  readonly head: EvidenceHead
  readonly checkpoint: Checkpoint
  /** Records of entries outside the period, and of all entries about the one agent; by `seq`. */
  readonly records: ReadonlyMap<number, string>
  readonly serials: ReadonlySet<string> | undefined
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
): Promise<EvidencePlan> {
  const { note, key, checkpoint } = await readCheckpoint(operations)
  const found = agent === undefined ? null : await operations.showAgent({ agente: agent })
  const agente = found && { id: found.id, hostname: found.hostname }
  const period = await findPeriod(operations, { from, to }, checkpoint.size)
  const ca = serials !== undefined
  const head = { from, to, agente, ...period, checkpoint: note, key, ca }
  const bearing = { period, agent: agente?.id, serials }
  return { head, checkpoint, serials, records: await findBearing(operations, bearing, progress) }
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

/** Timestamps never decrease, so times are numbers of entries. */
async function findPeriod(
  { listEntries }: EvidenceOperations,
  { from, to }: Pick<EvidenceWanted, 'from' | 'to'>,
  size: number,
): Promise<Period> {
  const seqAt = async (time: string): Promise<number> => {
    const { eventos } = await listEntries({ since: new Date(time).toISOString(), limit: 1 })
    return Math.min(eventos[0]?.seq ?? size + 1, size + 1)
  }
  const first = await seqAt(from)
  return { after: first - 1, until: (await seqAt(to)) - 1, size }
}
