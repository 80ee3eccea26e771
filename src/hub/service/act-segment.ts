// A part of the list of remembered acts, as a signed note: it says which entries of the log it covers, so that a part that is
// missing, or was put back to an earlier one, leaves a gap. docs/protocol.md BKP-15.

import { openNote, signNote } from '../../audit/signed-note.ts'
import type { LogTree } from '../domain/log-tree.ts'
import { formatAct, parseAct, type RememberedAct } from '../domain/remembered-act.ts'
import { epochOf } from '../../audit/log-origin.ts'
import { logSigner, openStatement, verifierOfEpoch } from './log-tree.ts'

export interface ActSegment {
  /** Of the log, by name. */
  readonly origin: string
  readonly epoch: number
  /** The epoch that this one began from, 0 for the first, and with how many entries. */
  readonly from: number
  readonly base: number
  /** It has every act of the entries `after` + 1 to `until`. */
  readonly after: number
  readonly until: number
  readonly acts: readonly RememberedAct[]
}

const LABEL = 'cartorio-acts/v1'
const NUMBERS = /^(\d{1,15}) (\d{1,15}) (\d{1,15}) (\d{1,15}) (\d{1,15})$/

/** Of this log, with none yet. */
export function beginSegment(tree: LogTree, after: number): ActSegment {
  const { origin, epoch } = tree
  return { origin, epoch, ...beginningOf(tree), after, until: after, acts: [] }
}

export function signSegment(segment: ActSegment, tree: LogTree): string {
  const { origin, epoch, from, base, after, until, acts } = segment
  const numbers = [epoch, from, base, after, until].join(' ')
  const lines = [LABEL, origin, numbers, ...acts.map(formatAct)]
  return signNote(`${lines.join('\n')}\n`, logSigner(tree))
}

/** Undefined when it is of another form, or not signed with the key of this log, in whatever epoch. */
export function openSegment(note: string, tree: LogTree): ActSegment | undefined {
  const [, origin = ''] = note.split('\n', 2)
  const text = openNote(note, [verifierOfEpoch(tree, origin)])?.text
  const [label, , numbers = '', ...lines] = text?.split('\n') ?? []
  const [epoch, from, base, after, until] = (NUMBERS.exec(numbers) ?? []).slice(1).map(Number)
  if (label !== LABEL || lines.pop() !== '' || epoch === undefined) return undefined
  if (from === undefined || base === undefined || after === undefined || until === undefined)
    return undefined
  const acts = lines.map(parseAct).filter((act) => act !== undefined)
  return acts.length < lines.length ? undefined : { origin, epoch, from, base, after, until, acts }
}

/** Those that this log has signed. */
export function openSegments(notes: readonly string[], tree: LogTree): readonly ActSegment[] {
  return notes.map((note) => openSegment(note, tree)).filter((segment) => segment !== undefined)
}

function beginningOf(tree: LogTree): Pick<ActSegment, 'from' | 'base'> {
  const own = tree.epochs
    .map((note) => openStatement(tree, note))
    .find((statement) => statement?.origin === tree.origin)
  return { from: own === undefined ? 0 : epochOf(own.previous), base: own?.base.size ?? 0 }
}
