// `svc checkpoint`: docs/protocol.md CLI-88, CLI-123, CLI-124.

import { formatAddCheckpoint } from '../../audit/add-checkpoint.ts'
import { consistencyOf } from '../../audit/range-proofs.ts'
import { UserError } from '../../platform/errors.ts'
import { readSmallFile } from '../../platform/small-file.ts'
import type { CommandContext } from './command-context.ts'
import { parseSeq } from './evento/evento-list-options.ts'
import { showRangeProof } from './evento/show-range-proof.ts'
import { explainFile } from './explain-file.ts'

export interface CheckpointOptions {
  readonly key?: true
  readonly addCheckpoint?: string
  readonly cosigned?: string | true
  readonly witnessKey?: readonly string[]
  readonly json?: true
}

const NOTE_BYTES_MAX = 64 * 1024

export async function printCheckpoint(
  context: CommandContext,
  options: CheckpointOptions,
): Promise<void> {
  const { key, addCheckpoint, cosigned, witnessKey } = options
  const chosen = [key, addCheckpoint, cosigned].filter((option) => option !== undefined)
  if (chosen.length > 1 || (witnessKey !== undefined && typeof cosigned !== 'string')) {
    throw new UserError('usage', '--key, --add-checkpoint and --cosigned go one at a time', {
      hint: '--witness-key goes with --cosigned <file>',
    })
  }
  if (addCheckpoint !== undefined) return printRequest(context, addCheckpoint, options)
  if (typeof cosigned === 'string') return keepCosigned(context, cosigned, options)
  const { output, withAdmin } = context
  const signed = await withAdmin(({ operations }) => operations.showCheckpoint({}))
  if (options.json) {
    await output.writeJson(signed)
    return
  }
  if (signed.checkpoint === null || signed.key === null) throw missing()
  if (key) await output.write(`${signed.key}\n`)
  else if (cosigned === undefined) await output.write(signed.checkpoint)
  else if (signed.cosigned) await output.write(signed.cosigned)
  else {
    throw new UserError('cosigned_missing', 'nobody had the vault keep a cosigned checkpoint', {
      hint: 'svc checkpoint --cosigned <file> --witness-key <key>',
    })
  }
}

/** As c2sp.org/tlog-witness has it. */
async function printRequest(
  { output, withAdmin }: CommandContext,
  entries: string,
  { json }: CheckpointOptions,
): Promise<void> {
  const older = parseSeq('--add-checkpoint', entries)
  const proof = await withAdmin(({ operations }) =>
    showRangeProof(operations, { after: older, before: older + 1 }),
  )
  if (proof.checkpoint === null) throw missing()
  const [left, right] = [proof.left, proof.right].map(fromBase64)
  const hashes = consistencyOf(older, proof.entries, { left: left ?? [], right: right ?? [] })
  const request = formatAddCheckpoint(older, hashes, proof.checkpoint)
  if (json) await output.writeJson({ old: older, entries: proof.entries, request })
  else await output.write(request)
}

async function keepCosigned(
  { output, withAdmin }: CommandContext,
  path: string,
  { witnessKey: witnesses, json }: CheckpointOptions,
): Promise<void> {
  if (witnesses === undefined) {
    throw new UserError('usage', '--cosigned needs the --witness-key of each witness', {
      hint: 'a witness publishes it: <name>+<hash>+<key>',
    })
  }
  const { text: checkpoint } = await explainFile(path, async () =>
    readSmallFile(path, NOTE_BYTES_MAX),
  )
  const kept = await withAdmin(({ operations }) =>
    orTooOld(() => operations.keepCosigned({ checkpoint, witnesses: [...witnesses] })),
  )
  if (json) await output.writeJson(kept)
  else {
    const signers = kept.witnesses.map(({ name, at }) => `signed by ${name} at ${at}\n`)
    await output.write(`kept: a checkpoint of ${kept.entries} entries\n${signers.join('')}`)
  }
}

async function orTooOld<Value>(ask: () => Promise<Value>): Promise<Value> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== 'route_not_found') throw error
    throw new UserError(
      'hub_too_old',
      'this hub is older than this svc: it keeps no cosigned checkpoints',
      {
        hint: 'upgrade the hub; nothing was done',
      },
    )
  }
}

function missing(): UserError {
  return new UserError('checkpoint_missing', 'the hub has signed no checkpoint', {
    hint: 'start the hub: it signs the first one within a second',
  })
}

function fromBase64(hashes: readonly string[]): Buffer[] {
  return hashes.map((hash) => Buffer.from(hash, 'base64'))
}
