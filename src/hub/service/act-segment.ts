// A part of the list of remembered acts, as a signed note: it says which entries of the log it covers, so that a part that is
// missing, or was put back to an earlier one, leaves a gap. docs/protocol.md BKP-15.

import { openNote, signNote } from '../../audit/signed-note.ts'
import type { LogTree } from '../domain/log-tree.ts'
import { formatAct, parseAct, type RememberedAct } from '../domain/remembered-act.ts'
import { logSigner, openStatement, verifierOfEpoch } from './log-tree.ts'

export interface ActSegment {
  /** Of the log, by name. */
  readonly origin: string
  readonly epoch: number
  /** How many entries the log had when this epoch began. */
  readonly base: number
  /** It has every act of the entries `after` + 1 to `until`. */
  readonly after: number
  readonly until: number
  readonly acts: readonly RememberedAct[]
}

const LABEL = 'cartorio-acts/v1'
const NUMBERS = /^(\d{1,15}) (\d{1,15}) (\d{1,15}) (\d{1,15})$/

/** Of this log, with none yet. */
export function beginSegment(tree: LogTree, after: number): ActSegment {
  const { origin, epoch } = tree
  return { origin, epoch, base: baseOf(tree), after, until: after, acts: [] }
}

export function signSegment(segment: ActSegment, tree: LogTree): string {
  const { origin, epoch, base, after, until, acts } = segment
  const lines = [LABEL, origin, `${epoch} ${base} ${after} ${until}`, ...acts.map(formatAct)]
  return signNote(`${lines.join('\n')}\n`, logSigner(tree))
}

/** Undefined when it is of another form, or not signed with the key of this log, in whatever epoch. */
export function openSegment(note: string, tree: LogTree): ActSegment | undefined {
  const [, origin = ''] = note.split('\n', 2)
  const text = openNote(note, [verifierOfEpoch(tree, origin)])?.text
  const [label, , numbers = '', ...lines] = text?.split('\n') ?? []
  const [epoch, base, after, until] = (NUMBERS.exec(numbers) ?? []).slice(1).map(Number)
  if (label !== LABEL || lines.pop() !== '' || epoch === undefined) return undefined
  if (base === undefined || after === undefined || until === undefined) return undefined
  const acts = lines.map(parseAct).filter((act) => act !== undefined)
  return acts.length < lines.length ? undefined : { origin, epoch, base, after, until, acts }
}

function baseOf(tree: LogTree): number {
  const note = tree.epochs.at(-1)
  return note === undefined ? 0 : (openStatement(tree, note)?.base.size ?? 0)
}
