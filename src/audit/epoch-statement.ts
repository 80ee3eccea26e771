// What a vault signs when its log goes on without entries that checkpoints were signed for: which log ends, what is known of its end,
// and from where the next one goes on. docs/protocol.md CHN-21.

import { type NoteSigner, type NoteVerifier, openNote, signNote } from './signed-note.ts'
import { HASH_BYTES } from './merkle-tree.ts'
import type { SizedRoot } from './merkle-proofs.ts'

export interface EpochStatement {
  /** The name of the log that begins. */
  readonly origin: string
  /** The name of the log that ends, and of the key that says so. */
  readonly previous: string
  /** The longest that is known of the log that ends. */
  readonly last: SizedRoot
  /** What the log that begins has of it. */
  readonly base: SizedRoot
  /** There is one for each log that ends, of which this is the first, the second, and so on: so none of them goes missing unseen. */
  readonly place: EpochPlace
}

export interface EpochPlace {
  readonly number: number
  readonly of: number
}

const LABEL = 'cartorio-epoch/v1'
const PLACE = /^([1-9][0-9]{0,3}) ([1-9][0-9]{0,3})$/
const SIZED_ROOT = /^(0|[1-9][0-9]{0,15}) ([A-Za-z0-9+/]{43}=)$/

export function signEpoch(statement: EpochStatement, signer: NoteSigner): string {
  const { origin, previous, last, base, place } = statement
  const sizedRoots = [last, base].map(formatSizedRoot)
  const lines = [LABEL, origin, previous, ...sizedRoots, `${place.number} ${place.of}`]
  return signNote(`${lines.join('\n')}\n`, signer)
}

/** Undefined when it is not of this form, or the log that ends has not signed it. */
export function openEpoch(note: string, verifier: NoteVerifier): EpochStatement | undefined {
  const text = openNote(note, [verifier])?.text ?? ''
  const [label, origin = '', previous, last = '', base = '', at = '', ...rest] = text.split('\n')
  if (label !== LABEL || previous !== verifier.name || rest.join('') !== '') return undefined
  const [parsedLast, parsedBase] = [parseSizedRoot(last), parseSizedRoot(base)]
  const place = parsePlace(at)
  if (origin === '' || parsedLast === undefined || parsedBase === undefined) return undefined
  return place && { origin, previous, last: parsedLast, base: parsedBase, place }
}

function parsePlace(line: string): EpochPlace | undefined {
  const [, number = '', of = ''] = PLACE.exec(line) ?? []
  return of === '' ? undefined : { number: Number(number), of: Number(of) }
}

function formatSizedRoot({ size, root }: SizedRoot): string {
  return `${size} ${root.toString('base64')}`
}

function parseSizedRoot(line: string): SizedRoot | undefined {
  const [, size = '', base64 = ''] = SIZED_ROOT.exec(line) ?? []
  const root = Buffer.from(base64, 'base64')
  const count = Number(size)
  if (size === '' || root.length !== HASH_BYTES || !Number.isSafeInteger(count)) return undefined
  return { size: count, root }
}
