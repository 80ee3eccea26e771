// What `svc evento verify` has from elsewhere than the file that it verifies: docs/protocol.md CLI-107, CLI-108.

import { type Checkpoint, parseCheckpoint } from '../../../audit/checkpoint.ts'
import type { Trusted } from '../../../audit/export-verifier.ts'
import { type NoteVerifier, openNote, parseVerifierKey } from '../../../audit/signed-note.ts'
import { UserError } from '../../../platform/errors.ts'
import { readSmallFile } from '../../../platform/small-file.ts'
import { explainFile } from '../explain-file.ts'
import { readReceiptFile } from './hold-receipts.ts'

export interface TrustedOptions {
  readonly key: string
  readonly checkpoint?: string
  readonly receipts?: string
}

const CHECKPOINT_BYTES_MAX = 64 * 1024

export async function readTrusted(options: TrustedOptions): Promise<Trusted> {
  const { key, checkpoint: path } = options
  const signer = parseVerifierKey(key)
  if (signer === undefined) {
    throw new UserError('key_invalid', '--key: this is not the key of a log', {
      hint: 'svc checkpoint --key prints it: <name>+<hash>+<key>',
    })
  }
  const kept = path === undefined ? undefined : await openKept(path, signer)
  const receipts =
    options.receipts === undefined ? undefined : await readReceiptFile(options.receipts)
  return { key, signer, kept, receipts }
}

async function openKept(path: string, signer: NoteVerifier): Promise<Checkpoint> {
  const { text } = await explainFile(path, async () => readSmallFile(path, CHECKPOINT_BYTES_MAX))
  const opened = openNote(text, [signer])
  const checkpoint = opened && parseCheckpoint(opened.text)
  if (checkpoint?.origin === signer.name) return checkpoint
  throw new UserError('checkpoint_invalid', `${path} is no checkpoint that ${signer.name} signed`, {
    hint: 'svc checkpoint prints one; after svc unseal --accept-loss a log has another name',
  })
}
