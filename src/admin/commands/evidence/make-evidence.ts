// `svc evidence`: docs/protocol.md EVD-1 to EVD-3.

import { readSerialList } from '../../../evidence/serial-list.ts'
import type { SerialSet } from '../../../evidence/serial-set.ts'
import { formatTimestamp } from '../../../audit/hash-chain.ts'
import { SvcError, UserError } from '../../../platform/errors.ts'
import type { CommandContext } from '../command-context.ts'
import { parseTimeOption } from '../evento/evento-list-options.ts'
import { refuseTerminal, STANDARD_OUTPUT, writeOutFile } from '../out-file.ts'
import { readFrom } from '../read-from.ts'
import { evidenceLines } from './evidence-lines.ts'
import { type EvidenceWanted, planEvidence } from './plan-evidence.ts'
import { describeSummary, outstanding, summariseEvidence } from './summarise-evidence.ts'

export interface EvidenceOptions {
  readonly from: string
  readonly to: string
  readonly agente?: string
  readonly caSerials?: string
  readonly out: string
  readonly replace?: true
  readonly json?: true
}

const STANDS_OUT = 2
const LINES_A_PIECE = 4096

export async function makeEvidence(
  context: CommandContext,
  options: EvidenceOptions,
): Promise<void> {
  const { output, progress } = context
  const period = parsePeriod(options, context.clock.now())
  refuseContradictions(options, output)
  // With the operator's own rights, before svc becomes the owner of the vault.
  const serials = await readFrom(context, options.caSerials, (source) =>
    readSerialList(source.stream(), {
      name: source.name,
      onProgress: (lines) => progress.show(`reading the list of the CA: ${lines} lines`),
    }),
  )
  const wanted: EvidenceWanted = {
    ...period,
    agent: options.agente,
    serials,
  }
  if (options.out === STANDARD_OUTPUT) {
    return context.withAdmin(async ({ operations }) => {
      const plan = await planEvidence(operations, wanted, progress)
      for await (const piece of evidenceLines(operations, plan, progress)) {
        await output.writeBytes(Buffer.from(piece))
      }
    })
  }
  const write = (pieces: AsyncIterable<string | Uint8Array>): Promise<void> =>
    writeOutFile(options.out, pieces, options)
  const printedByOwner = context.byOwner?.()
  if (printedByOwner !== undefined) {
    await write(printedByOwner(argumentsFor(wanted), serials && linesOf(serials)))
  } else {
    await context.withAdmin(async ({ operations }) => {
      const plan = await planEvidence(operations, wanted, progress)
      await write(evidenceLines(operations, plan, progress))
    })
  }
  progress.clear()
  const summary = await summariseEvidence(options.out)
  if (options.json) await output.writeJson({ file: options.out, ...summary })
  else await output.write(describeSummary(options.out, summary))
  const found = outstanding(summary)
  if (found !== undefined) throw new SvcError('evidence_found', found, { exitStatus: STANDS_OUT })
}

function parsePeriod(
  { from, to }: EvidenceOptions,
  now: Date,
): Pick<EvidenceWanted, 'from' | 'to'> {
  const [begins, ends] = [parseTimeOption('--from', from, now), parseTimeOption('--to', to, now)]
  if (begins < ends) {
    return { from: formatTimestamp(new Date(begins)), to: formatTimestamp(new Date(ends)) }
  }
  throw new UserError('usage', '--to is not after --from', {
    hint: 'the period begins with --from and ends before --to',
  })
}

function refuseContradictions(
  { out, json, replace }: EvidenceOptions,
  output: CommandContext['output'],
): void {
  if (out !== STANDARD_OUTPUT) return
  if (json || replace) {
    throw new UserError('usage', '--out - goes neither with --json nor with --replace', {
      hint: 'standard output is the evidence',
    })
  }
  refuseTerminal(output, 'evidence')
}

/** As another svc reads them. */
function* linesOf(serials: SerialSet): Generator<Buffer> {
  let lines: string[] = []
  for (const serial of serials) {
    lines.push(`0x${serial}\n`)
    if (lines.length < LINES_A_PIECE) continue
    yield Buffer.from(lines.join(''))
    lines = []
  }
  yield Buffer.from(lines.join(''))
}

function argumentsFor({ from, to, agent, serials }: EvidenceWanted): string[] {
  return [
    'evidence',
    '--from',
    new Date(from).toISOString(),
    '--to',
    new Date(to).toISOString(),
    '--out',
    STANDARD_OUTPUT,
    ...(agent === undefined ? [] : ['--agente', agent]),
    ...(serials === undefined ? [] : ['--ca-serials', '-']),
  ]
}
