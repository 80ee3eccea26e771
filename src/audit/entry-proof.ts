// A proof of one entry, which is checked without vault and hub, as c2sp.org/tlog-proof has it: the record is its extra data. There is one
// way only to write each. docs/protocol.md CHN-36.

import { type Checkpoint, parseCheckpoint } from './checkpoint.ts'
import { hashEntry } from './hash-chain.ts'
import { verifyInclusion } from './merkle-proofs.ts'
import { HASH_BYTES } from './merkle-tree.ts'
import { hashRecord, parseRecord, type RecordedEntry } from './record.ts'
import { type NoteVerifier, openNote } from './signed-note.ts'

export interface EntryProof {
  readonly record: string
  /** From the leaf to the root: RFC 9162, 2.1.3. */
  readonly hashes: readonly Buffer[]
  /** The signed note. */
  readonly checkpoint: string
}

/** Its first line. */
export const ENTRY_PROOF_LABEL = 'c2sp.org/tlog-proof@v1'
const EXTRA = 'extra '
const INDEX = 'index '
/** No tree is higher. */
const HASHES_MAX = 53

export function formatEntryProof({ record, hashes, checkpoint }: EntryProof, seq: number): string {
  const lines = [
    ENTRY_PROOF_LABEL,
    `${EXTRA}${Buffer.from(record).toString('base64')}`,
    `${INDEX}${seq - 1}`,
    ...hashes.map((hash) => hash.toString('base64')),
    '',
  ]
  return `${lines.join('\n')}\n${checkpoint}`
}

/** What a proof proves, or why it proves nothing. */
export function openEntryProof(
  text: string,
  signer: NoteVerifier,
):
  | { readonly entry: RecordedEntry; readonly checkpoint: Checkpoint }
  | { readonly reason: string } {
  const proof = parseEntryProof(text)
  const entry = proof && parseRecord(proof.record)
  if (proof === undefined || entry === undefined || formatEntryProof(proof, entry.seq) !== text)
    return { reason: 'it is no proof of an entry of the log' }
  const opened = openNote(proof.checkpoint, [signer])
  const checkpoint = opened && parseCheckpoint(opened.text)
  if (checkpoint?.origin !== signer.name)
    return { reason: 'its checkpoint is not signed with this key' }
  const { size, root } = checkpoint
  const claim = { leaf: hashRecord(proof.record), index: entry.seq - 1, size, root }
  if (!verifyInclusion(claim, proof.hashes))
    return { reason: `its entry is not in the log that its checkpoint was signed for` }
  const { previousHash, payloadText, timestamp, hash } = entry
  if (hashEntry(previousHash, payloadText, timestamp) !== hash)
    return { reason: 'the hash of its entry does not match the payload and timestamp' }
  return { entry, checkpoint }
}

function parseEntryProof(text: string): EntryProof | undefined {
  const split = text.indexOf('\n\n')
  // What it skips is compared when the proof is written again.
  const [, extra = '', , ...lines] = text.slice(0, split).split('\n')
  if (split < 0 || lines.length > HASHES_MAX) return undefined
  const hashes = lines.map((line) => Buffer.from(line, 'base64'))
  if (hashes.some(({ length }) => length !== HASH_BYTES)) return undefined
  const record = Buffer.from(extra.slice(EXTRA.length), 'base64').toString()
  return { record, hashes, checkpoint: text.slice(split + 2) }
}
