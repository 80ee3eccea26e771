// `svc evento proof`: docs/protocol.md CHN-36, CLI-121.

import { formatEntryProof, openEntryProof } from '../../../audit/entry-proof.ts'
import { inclusionOf } from '../../../audit/range-proofs.ts'
import { parseVerifierKey } from '../../../audit/signed-note.ts'
import { SvcError, UserError } from '../../../platform/errors.ts'
import type { CommandContext } from '../command-context.ts'
import { parseSeq } from './evento-list-options.ts'
import { showRangeProof } from './show-range-proof.ts'

export interface EventoProofOptions {
  readonly json?: true
}

export async function proveEntry(
  { output, withAdmin }: CommandContext,
  number: string,
  { json }: EventoProofOptions,
): Promise<void> {
  const seq = Math.max(1, parseSeq('<seq>', number))
  const proven = await withAdmin(async ({ operations }) => {
    const [record] = (await operations.listRecords({ after: seq - 1, limit: 1 })).registros
    if (record === undefined) {
      throw new UserError('entry_not_found', `the log has no entry ${seq}`, {
        hint: 'the column SEQ of svc event list shows the numbers',
      })
    }
    return { record, ...(await showRangeProof(operations, { after: seq - 1, before: seq + 1 })) }
  })
  const { record, checkpoint, key, entries, until } = proven
  if (checkpoint === null || key === null || until !== seq) {
    throw new UserError('entry_not_signed', `no checkpoint has entry ${seq} yet`, {
      hint: 'the hub signs one within a second: try again',
    })
  }
  const [left, right] = [proven.left, proven.right].map((hashes) =>
    hashes.map((hash) => Buffer.from(hash, 'base64')),
  )
  const hashes = inclusionOf(seq, entries, { left: left ?? [], right: right ?? [] })
  const proof = formatEntryProof({ record, hashes, checkpoint }, seq)
  const signer = parseVerifierKey(key)
  const opened = signer && openEntryProof(proof, signer)
  if (opened === undefined || 'reason' in opened) {
    const reason = opened?.reason ?? 'its key is no key'
    throw new SvcError('log_rewritten', `entry ${seq} cannot be proven: ${reason}`, {
      hint: 'svc event list --verify reads the whole log',
    })
  }
  if (json) await output.writeJson({ seq, entries, key, proof })
  else await output.write(proof)
}
