// `svc evento verify`: docs/protocol.md CLI-107, CHN-32.

import {
  type ExportFault,
  ExportVerifier,
  openExport,
  type Trusted,
} from '../../../audit/export-verifier.ts'
import type { ChainFault } from '../../../audit/hash-chain.ts'
import { EXPORT_LINE_BYTES_MAX } from '../../../audit/log-export.ts'
import { UserError } from '../../../platform/errors.ts'
import { readLines } from '../../../platform/read-lines.ts'
import type { Progress } from '../../terminal/progress.ts'
import type { CommandContext } from '../command-context.ts'
import { explainFile } from '../explain-file.ts'
import {
  describeReceipts,
  failIfNotBorneOut,
  formatReceipts,
  type ReceiptsVerification,
} from './hold-receipts.ts'

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
  /** Null when nobody asked. */
  readonly receipts: ReceiptsVerification | null
}

export async function printExportVerification(
  { output, progress }: CommandContext,
  chunks: AsyncIterable<Uint8Array>,
  {
    trusted,
    file,
    json,
  }: { readonly trusted: Trusted; readonly file: string; readonly json: boolean },
): Promise<void> {
  const verification = await explainFile(file, () => verifyExport(chunks, trusted, file, progress))
  if (json) await output.writeJson(verification)
  else if (isAsSigned(verification)) await output.write(describe(verification))
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
  { key, kept, receipts }: Trusted,
  name: string,
): ExportVerification {
  const fault = verifier.finish()
  if (fault !== undefined && fault.code !== 'log_rewritten') throw toError(fault, name)
  const { after, until, head, chainFault, checkpoint } = verifier
  const held = receipts && describeReceipts(receipts.length, verifier.findReceiptFaults())
  return {
    ok: fault === undefined && chainFault === undefined && held?.ok !== false,
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
    receipts: held ?? null,
  }
}

/** Whatever the receipts say. */
function isAsSigned({ first_bad: bad, checkpoint }: ExportVerification): boolean {
  return bad === null && checkpoint.ok
}

const HINTS: Readonly<Record<ExportFault['code'], string>> = {
  export_invalid: 'export the log again; compare the two files',
  checkpoint_invalid:
    'svc checkpoint --key prints the key of the hub; if it is another one than before, find out why',
  receipts_outside: 'export the whole log',
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
  receipts,
}: ExportVerification): string {
  const entries = `${until - after} entries`
  const part = after === 0 && until === checkpoint.entries ? '' : `, ${after + 1} to ${until}`
  const chain = head === null ? 'no entries' : `hash chain ok: ${entries}${part}, head ${head}`
  const signed = `checkpoint ok: ${checkpoint.entries} entries, root ${checkpoint.root}`
  const grown = kept === null ? '' : `the log goes on from the checkpoint of ${kept} entries\n`
  const borneOut = receipts === null ? '' : formatReceipts(receipts)
  return `${chain}\n${signed}\n${grown}${borneOut}`
}

function failIfBroken({ first_bad: bad, checkpoint, receipts }: ExportVerification): void {
  if (bad !== null) {
    throw new UserError('chain_broken', `hash chain broken at entry ${bad.seq}: ${bad.reason}`, {
      hint: 'nothing from that entry on can be trusted; compare with a backup',
    })
  }
  if (!checkpoint.ok) {
    throw new UserError('log_rewritten', `log not as it was signed: ${checkpoint.reason}`, {
      hint: HINTS.log_rewritten,
    })
  }
  if (receipts !== null) failIfNotBorneOut(receipts)
}
