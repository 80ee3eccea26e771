// `svc evento verify` of the proof of one entry: docs/protocol.md CHN-36, CLI-122.

import { openEntryProof } from '../../../audit/entry-proof.ts'
import type { Trusted } from '../../../audit/export-verifier.ts'
import type { RecordedEntry } from '../../../audit/record.ts'
import { SvcError, UserError } from '../../../platform/errors.ts'
import type { CommandContext } from '../command-context.ts'

/** Of the text: a record, in base64, and little else. */
const PROOF_BYTES_MAX = 24 * 1024 * 1024

export async function printProofVerification(
  { output }: CommandContext,
  chunks: AsyncIterable<Uint8Array>,
  {
    trusted,
    file,
    json,
  }: { readonly trusted: Trusted; readonly file: string; readonly json: boolean },
): Promise<void> {
  if ((trusted.kept ?? trusted.receipts) !== undefined) {
    throw new UserError(
      'usage',
      `${file} is of one entry: no checkpoint or receipt is held against it`,
      {
        hint: 'export the log for that',
      },
    )
  }
  const opened = openEntryProof(await readText(chunks, file), trusted.signer)
  if ('reason' in opened) {
    throw new UserError('proof_invalid', `${file}: ${opened.reason}`, {
      hint: 'make the proof again; svc checkpoint --key prints the key of the hub',
    })
  }
  const { entry, checkpoint } = opened
  const root = checkpoint.root.toString('base64')
  if (json) {
    const signed = { entries: checkpoint.size, root, key: trusted.key }
    await output.writeJson({ ok: true, evento: viewOf(entry), checkpoint: signed })
    return
  }
  await output.write(
    `${describe(entry)}\ncheckpoint ok: ${checkpoint.size} entries, root ${root}\n`,
  )
}

async function readText(chunks: AsyncIterable<Uint8Array>, file: string): Promise<string> {
  const read: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > PROOF_BYTES_MAX)
      throw new SvcError(
        'file_too_large',
        `${file} has more than the ${PROOF_BYTES_MAX} bytes allowed`,
      )
    read.push(chunk)
  }
  return Buffer.concat(read).toString()
}

function describe({
  seq,
  eventType,
  agentId,
  timestamp,
  hash,
  payloadText,
}: RecordedEntry): string {
  const sender = agentId === null ? 'the hub' : `agent ${agentId}`
  return `entry ${seq} ok: ${eventType} of ${sender} at ${timestamp}, hash ${hash}\npayload: ${payloadText}`
}

/** As CLI-26 names the columns. */
function viewOf(entry: RecordedEntry): object {
  return {
    seq: entry.seq,
    id: entry.id,
    agente_id: entry.agentId,
    tipo_evento: entry.eventType,
    payload_text: entry.payloadText,
    entrega_id: entry.deliveryId,
    request_id: entry.requestId,
    timestamp: entry.timestamp,
    hash_anterior: entry.previousHash,
    hash_atual: entry.hash,
  }
}
