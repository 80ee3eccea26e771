// `svc evento export`: docs/protocol.md CLI-105, CLI-106.

import { formatExportHead, formatExportRecord } from '../../../audit/log-export.ts'
import { SvcError, UserError } from '../../../platform/errors.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { Progress } from '../../terminal/progress.ts'
import type { CommandContext } from '../command-context.ts'
import { refuseTerminal, STANDARD_OUTPUT, writeOutFile } from '../out-file.ts'
import { readAhead } from '../read-ahead.ts'
import { parseSeq } from './evento-list-options.ts'
import { type Range, type RangeProof, showRangeProof } from './show-range-proof.ts'

export interface EventoExportOptions {
  readonly out: string
  readonly after?: string
  readonly before?: string
  readonly replace?: true
  readonly json?: true
}

/** So many of the largest are 20 MB. */
const PAGE_ENTRIES = 1000

export async function exportLog(
  context: CommandContext,
  options: EventoExportOptions,
): Promise<void> {
  const range = parseRange(options)
  if (options.out === STANDARD_OUTPUT) return exportToOutput(context, options, range)
  const { output, progress } = context
  const printedByOwner = context.byOwner?.()
  const write = (pieces: AsyncIterable<string | Uint8Array>): Promise<void> =>
    writeOutFile(options.out, pieces, options)
  if (printedByOwner !== undefined) await write(printedByOwner(argumentsFor(range)))
  else {
    await context.withAdmin(async ({ operations }) =>
      write(exportLines(operations, await showRangeProof(operations, range), progress)),
    )
  }
  progress.clear()
  if (options.json) await output.writeJson({ file: options.out })
  else await output.write(`${options.out}\n`)
}

async function exportToOutput(
  { output, progress, withAdmin }: CommandContext,
  { json, replace }: EventoExportOptions,
  range: Range,
): Promise<void> {
  if (json || replace) {
    throw new UserError('usage', '--out - goes neither with --json nor with --replace', {
      hint: 'standard output is the export',
    })
  }
  refuseTerminal(output, 'an export')
  await withAdmin(async ({ operations }) => {
    const lines = exportLines(operations, await showRangeProof(operations, range), progress)
    for await (const piece of lines) await output.writeBytes(Buffer.from(piece))
  })
}

/** The text of an export, in pieces of a page. */
export async function* exportLines(
  operations: Pick<AdminOperations, 'listRecords'>,
  { checkpoint, key, after, until, left, right }: RangeProof,
  progress: Progress,
): AsyncGenerator<string> {
  if (checkpoint === null || key === null) {
    throw new UserError('checkpoint_missing', 'the hub has signed no checkpoint', {
      hint: 'start the hub: it signs the first one within a second',
    })
  }
  const hashes = { left: fromBase64(left), right: fromBase64(right) }
  yield `${formatExportHead({ after, until, checkpoint, key, ...hashes })}\n`
  let last = after
  const ask = (from: number) =>
    operations.listRecords({ after: from, limit: Math.min(PAGE_ENTRIES, until - from) })
  if (last === until) return
  const pages = readAhead(await ask(last), ({ registros }) => {
    last += registros.length
    return last < until && registros.length > 0 ? ask(last) : undefined
  })
  for await (const { registros } of pages) {
    yield registros.map((record) => `${formatExportRecord(record)}\n`).join('')
    progress.show(`exporting the log: ${last - after} of ${until - after} entries`)
  }
  if (last !== until)
    throw new SvcError('reply_invalid', `the hub answered ${last - after} records`)
}

function fromBase64(hashes: readonly string[]): Buffer[] {
  return hashes.map((hash) => Buffer.from(hash, 'base64'))
}

function parseRange({ after, before }: EventoExportOptions): Range {
  return {
    ...(after !== undefined && { after: parseSeq('--after', after) }),
    ...(before !== undefined && { before: Math.max(1, parseSeq('--before', before)) }),
  }
}

function argumentsFor({ after, before }: Range): string[] {
  return [
    'evento',
    'export',
    '--out',
    STANDARD_OUTPUT,
    ...(after === undefined ? [] : ['--after', String(after)]),
    ...(before === undefined ? [] : ['--before', String(before)]),
  ]
}
