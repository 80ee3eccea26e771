// Checks an export of the log line by line, in constant memory, against the key of the log and against a checkpoint that somebody
// kept. docs/protocol.md CHN-32.

import { type Checkpoint, parseCheckpoint } from './checkpoint.ts'
import type { ChainFault } from './hash-chain.ts'
import { type ExportHead, parseExportHead, parseExportRecord } from './log-export.ts'
import { LogVerifier } from './log-verifier.ts'
import { completeTree, EMPTY_FRONTIER, type Frontier, rootOf } from './merkle-tree.ts'
import type { Receipt } from './receipt.ts'
import { ReceiptCheck, type ReceiptFault } from './receipt-check.ts'
import { type NoteVerifier, openNote } from './signed-note.ts'

/** What the verifier has from elsewhere. */
export interface Trusted {
  /** As the export has to name it, too. */
  readonly key: string
  readonly signer: NoteVerifier
  /** The log has to go on from here. */
  readonly kept: Checkpoint | undefined
  /** The log has to have these entries. */
  readonly receipts?: readonly Receipt[] | undefined
}

export interface ExportFault {
  readonly code:
    | 'export_invalid'
    | 'checkpoint_invalid'
    | 'checkpoint_outside'
    | 'receipts_outside'
    | 'log_rewritten'
  readonly reason: string
}

/** By its first line: a fault, or what checks the lines after it. */
export function openExport(line: string, trusted: Trusted): ExportFault | ExportVerifier {
  const head = parseExportHead(line)
  if (head === undefined) return invalid('its first line is not that of an export of the log')
  const checkpoint = openCheckpoint(head, trusted)
  if ('reason' in checkpoint) return checkpoint
  const { after, until, left, right } = head
  if (until > checkpoint.size) return invalid('it says that it has more than was signed')
  const before = completeTree(EMPTY_FRONTIER, after, left)
  if (before === undefined)
    return invalid('the hashes before its entries are not as many as there are')
  const { kept, receipts } = trusted
  const fault = findFaultOfKept(head, checkpoint, kept)
  if (fault !== undefined) return fault
  if (receipts !== undefined && after > 0) {
    const reason = `receipts are of any entry, and the export begins after entry ${after}`
    return { code: 'receipts_outside', reason }
  }
  return new ExportVerifier({ until, right, before, checkpoint, kept, receipts })
}

interface Opened {
  readonly until: number
  readonly right: readonly Buffer[]
  readonly before: Frontier
  readonly checkpoint: Checkpoint
  readonly kept: Checkpoint | undefined
  readonly receipts: readonly Receipt[] | undefined
}

export class ExportVerifier {
  readonly checkpoint: Checkpoint
  readonly after: number
  readonly until: number
  readonly #log: LogVerifier
  readonly #right: readonly Buffer[]
  readonly #receipts: ReceiptCheck

  constructor({ until, right, before, checkpoint, kept, receipts }: Opened) {
    this.checkpoint = checkpoint
    this.after = before.size
    this.until = until
    this.#right = right
    this.#log = new LogVerifier(kept === undefined ? [] : [kept], before)
    this.#receipts = new ReceiptCheck(receipts ?? [])
  }

  /** The number of the last entry that was added. */
  get count(): number {
    return this.#log.count
  }
  /** The hash of the last good entry; empty when there is none. */
  get head(): string {
    return this.#log.head
  }
  /** The first entry that is wrong by itself. */
  get chainFault(): ChainFault | undefined {
    return this.#log.chainFault
  }

  /** Why the line cannot be the next one. */
  add(line: string): ExportFault | undefined {
    if (this.count === this.until) return invalid('there is more after its last entry')
    const read = parseExportRecord(line)
    if (read === undefined) return invalid(`what should be entry ${this.count + 1} is no record`)
    this.#log.add(read.entry, read.record)
    this.#receipts.add(read.entry)
    return undefined
  }

  /** After the last line: the receipts that the log does not bear out. */
  findReceiptFaults(): readonly ReceiptFault[] {
    return this.#receipts.finish()
  }

  /** After the last line: why this is not what was signed. */
  finish(): ExportFault | undefined {
    if (this.count < this.until) {
      return invalid(`it ends with entry ${this.count} of ${this.until}: its end was cut off`)
    }
    const { size, root } = this.checkpoint
    const whole = completeTree(this.#log.readTree(), size, this.#right)
    if (whole === undefined)
      return invalid('the hashes after its entries are not as many as there are')
    const reason = this.#log.findTreeFault()
    if (reason !== undefined) return { code: 'log_rewritten', reason }
    if (rootOf(whole).equals(root)) return undefined
    return {
      code: 'log_rewritten',
      reason: 'its entries are not those that its checkpoint was signed for',
    }
  }
}

function openCheckpoint(head: ExportHead, { key, signer }: Trusted): Checkpoint | ExportFault {
  if (head.key !== key)
    return { code: 'checkpoint_invalid', reason: `it names another key: ${head.key}` }
  const opened = openNote(head.checkpoint, [signer])
  const checkpoint = opened && parseCheckpoint(opened.text)
  if (checkpoint?.origin === signer.name) return checkpoint
  return { code: 'checkpoint_invalid', reason: 'its checkpoint is not signed with this key' }
}

/** A part of a log says nothing about what came before it. */
function findFaultOfKept(
  { after, until }: ExportHead,
  { size }: Checkpoint,
  kept: Checkpoint | undefined,
): ExportFault | undefined {
  if (kept === undefined || (kept.size >= after && kept.size <= until)) return undefined
  if (kept.size > size) {
    const reason = `the checkpoint that was kept is of ${kept.size} entries, and this log has ${size}`
    return { code: 'log_rewritten', reason }
  }
  const reason = `the checkpoint that was kept is of ${kept.size} entries, and the export begins after ${after} and ends with ${until}`
  return { code: 'checkpoint_outside', reason }
}

function invalid(reason: string): ExportFault {
  return { code: 'export_invalid', reason }
}
