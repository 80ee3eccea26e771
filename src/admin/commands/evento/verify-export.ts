// `svc evento verify`: docs/protocol.md CLI-107, CHN-32.

import { createReadStream } from 'node:fs'
import { type Checkpoint, parseCheckpoint } from '../../../audit/checkpoint.ts'
import {
  type ExportFault,
  ExportVerifier,
  openExport,
  type Trusted,
} from '../../../audit/export-verifier.ts'
import type { ChainFault } from '../../../audit/hash-chain.ts'
import { EXPORT_LINE_BYTES_MAX } from '../../../audit/log-export.ts'
import { type NoteVerifier, openNote, parseVerifierKey } from '../../../audit/signed-note.ts'
import { UserError } from '../../../platform/errors.ts'
import { readLines } from '../../../platform/read-lines.ts'
import { readSmallFile } from '../../../platform/small-file.ts'
import type { Progress } from '../../terminal/progress.ts'
import type { CommandContext } from '../command-context.ts'
import { explainFile } from '../explain-file.ts'

export interface EventoVerifyOptions {
  readonly key: string
  readonly checkpoint?: string
  readonly json?: true
}

export interface ExportVerification {
  readonly ok: boolean
  /** The export has the entries after the one, up to the other. */
  readonly after: number
  readonly until: number
  /** The hash of the last good entry; null when there is none. */
  readonly head: string | null
  readonly first_bad: ChainFault | null
  readonly checkpoint: {
    readonly ok: boolean
    /** Entries that it was signed for. */
    readonly entries: number
    /** Base64. */
    readonly root: string
    readonly key: string
    /** Why the entries are not those that it was signed for. */
    readonly reason: string | null
  }
  /** Of the checkpoint that somebody kept. */
  readonly kept_entries: number | null
}

const CHECKPOINT_BYTES_MAX = 64 * 1024
const READ_BYTES = 256 * 1024

export async function printExportVerification(
  { output, progress }: CommandContext,
  file: string,
  options: EventoVerifyOptions,
): Promise<void> {
  const trusted = await readTrusted(options)
  const chunks = createReadStream(file, { highWaterMark: READ_BYTES })
  const verification = await explainFile(file, () => verifyExport(chunks, trusted, file, progress))
  if (options.json) await output.writeJson(verification)
  else if (verification.ok) await output.write(describe(verification))
  failIfBroken(verification)
}

/** Throws a UserError for what is no export, or not one of this key. */
export async function verifyExport(
  chunks: AsyncIterable<Uint8Array>,
  trusted: Trusted,
  name: string,
  progress: Progress,
): Promise<ExportVerification> {
  let verifier: ExportVerifier | undefined
  let lineNumber = 0
  for await (const lines of readLines(chunks, { name, lineBytesMax: EXPORT_LINE_BYTES_MAX })) {
    for (const line of lines) {
      lineNumber += 1
      if (verifier === undefined) verifier = orThrow(openExport(line, trusted), name)
      else {
        const fault = verifier.add(line)
        if (fault !== undefined) throw toError(fault, `${name}, line ${lineNumber}`)
      }
    }
    if (verifier === undefined) continue
    const { count, after, until } = verifier
    progress.show(`verifying the export: ${count - after} of ${until - after} entries`)
  }
  progress.clear()
  if (verifier === undefined) throw new UserError('export_invalid', `${name} is empty`)
  return concludeVerification(verifier, trusted, name)
}

function concludeVerification(
  verifier: ExportVerifier,
  { key, kept }: Trusted,
  name: string,
): ExportVerification {
  const fault = verifier.finish()
  if (fault !== undefined && fault.code !== 'log_rewritten') throw toError(fault, name)
  const { after, until, head, chainFault, checkpoint } = verifier
  return {
    ok: fault === undefined && chainFault === undefined,
    after,
    until,
    head: head === '' ? null : head,
    first_bad: chainFault ?? null,
    checkpoint: {
      ok: fault === undefined,
      entries: checkpoint.size,
      root: checkpoint.root.toString('base64'),
      key,
      reason: fault?.reason ?? null,
    },
    kept_entries: kept?.size ?? null,
  }
}

async function readTrusted({ key, checkpoint: path }: EventoVerifyOptions): Promise<Trusted> {
  const signer = parseVerifierKey(key)
  if (signer === undefined) {
    throw new UserError('key_invalid', '--key: this is not the key of a log', {
      hint: 'svc checkpoint --key prints it: <name>+<hash>+<key>',
    })
  }
  const kept = path === undefined ? undefined : await openKept(path, signer)
  return { key, signer, kept }
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

const HINTS: Readonly<Record<ExportFault['code'], string>> = {
  export_invalid: 'export the log again; compare the two files',
  checkpoint_invalid:
    'svc checkpoint --key prints the key of the hub; if it is another one than before, find out why',
  checkpoint_outside: 'export the log from that checkpoint on, or the whole log',
  log_rewritten: 'somebody changed the log after it was signed; compare with a backup',
}

function orThrow(opened: ExportFault | ExportVerifier, name: string): ExportVerifier {
  if (opened instanceof ExportVerifier) return opened
  throw toError(opened, name)
}

function toError({ code, reason }: ExportFault, place: string): UserError {
  return new UserError(code, `${place}: ${reason}`, { hint: HINTS[code] })
}

function describe({
  after,
  until,
  head,
  checkpoint,
  kept_entries: kept,
}: ExportVerification): string {
  const entries = `${until - after} entries`
  const part = after === 0 && until === checkpoint.entries ? '' : `, ${after + 1} to ${until}`
  const chain = head === null ? 'no entries' : `hash chain ok: ${entries}${part}, head ${head}`
  const signed = `checkpoint ok: ${checkpoint.entries} entries, root ${checkpoint.root}`
  const grown = kept === null ? '' : `the log goes on from the checkpoint of ${kept} entries\n`
  return `${chain}\n${signed}\n${grown}`
}

function failIfBroken({ ok, first_bad: bad, checkpoint }: ExportVerification): void {
  if (ok) return
  if (bad !== null) {
    throw new UserError('chain_broken', `hash chain broken at entry ${bad.seq}: ${bad.reason}`, {
      hint: 'nothing from that entry on can be trusted; compare with a backup',
    })
  }
  throw new UserError('log_rewritten', `log not as it was signed: ${checkpoint.reason}`, {
    hint: HINTS.log_rewritten,
  })
}
