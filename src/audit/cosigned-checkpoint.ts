// A checkpoint of the log that witnesses of others have signed too: c2sp.org/tlog-cosignature. docs/protocol.md CHN-39.

import { verify } from 'node:crypto'
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts'
import { isSignatureOf, type NoteSignature, type NoteVerifier, parseNote } from './signed-note.ts'

export interface Cosigned {
  readonly checkpoint: Checkpoint
  /** The note, with the signatures of the log and of these witnesses only, in their order. */
  readonly note: string
  readonly witnesses: readonly { readonly name: string; readonly at: Date }[]
}

const TIME_BYTES = 8
/** The year 9999. */
const SECONDS_MAX = 253_402_300_799n

/** Why this is no checkpoint of the log that all these witnesses have signed. */
export function openCosigned(
  note: string,
  log: NoteVerifier,
  witnesses: readonly NoteVerifier[],
): Cosigned | { readonly reason: string } {
  const parsed = parseNote(note)
  const checkpoint = parsed && parseCheckpoint(parsed.text)
  if (parsed === undefined || checkpoint === undefined)
    return { reason: 'it is no signed checkpoint' }
  const { text, signatures } = parsed
  const own = signatures.find((signature) => isSignatureOf(signature, log))
  const isOurs = own !== undefined && verify(null, Buffer.from(text), log.publicKey, own.bytes)
  if (!isOurs || checkpoint.origin !== log.name)
    return { reason: `it is not signed with the key of ${log.name}` }
  const lines = [own.line]
  const signed: { name: string; at: Date }[] = []
  for (const witness of witnesses) {
    const signature = signatures.find((one) => isSignatureOf(one, witness))
    const at = signature && openCosignature({ text, ...checkpoint }, signature, witness)
    if (signature === undefined || at === undefined)
      return { reason: `witness ${witness.name} has not signed it` }
    lines.push(signature.line)
    signed.push({ name: witness.name, at })
  }
  return { checkpoint, note: `${text}\n${lines.join('\n')}\n`, witnesses: signed }
}

interface SignedText extends Checkpoint {
  readonly text: string
}

/** When it was made; undefined when the signature is wrong, or says nothing of the time. */
function openCosignature(
  signed: SignedText,
  { bytes }: NoteSignature,
  { name, publicKey }: NoteVerifier,
): Date | undefined {
  if (bytes.length <= TIME_BYTES) return undefined
  const seconds = bytes.readBigUInt64BE()
  if (seconds === 0n || seconds > SECONDS_MAX) return undefined
  const message =
    publicKey.asymmetricKeyType === 'ed25519'
      ? Buffer.from(`cosignature/v1\ntime ${seconds}\n${signed.text}`)
      : formatSubtree(signed, name, seconds)
  if (!verify(null, message, publicKey, bytes.subarray(TIME_BYTES))) return undefined
  return new Date(Number(seconds) * 1000)
}

/** What is signed with ML-DSA-44, of the whole tree. */
function formatSubtree(
  { origin, size, root }: Checkpoint,
  witness: string,
  seconds: bigint,
): Buffer {
  return Buffer.concat([
    Buffer.from('subtree/v1\n\0'),
    withLength(witness),
    toBytes(seconds),
    withLength(origin),
    toBytes(0n),
    toBytes(BigInt(size)),
    root,
  ])
}

function withLength(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.of(bytes.length), bytes])
}

function toBytes(number: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(number)
  return bytes
}
