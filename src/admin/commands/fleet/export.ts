import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Command, Option } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import type { CommandContext } from '../command-context.ts'
import { explainFile } from '../explain-file.ts'
import { writeOutFile } from '../out-file.ts'
import type { CollectedFleet } from './collect-fleet.ts'

interface ExportOptions {
  readonly out?: string
  readonly format: 'toml' | 'yaml'
  readonly replace?: true
  readonly json?: true
}

export function registerExport(program: Command, context: CommandContext): void {
  program
    .command('export')
    .description('write the present fleet as files for svc plan and svc apply')
    .option('--out <directory>', 'a file for each kind there, in place of standard output')
    .addOption(
      new Option('--format <format>', 'of the files').choices(['toml', 'yaml']).default('toml'),
    )
    .option('--replace', 'replace files that are there')
    .option('--json', 'print one JSON document, as the hub takes it')
    .addHelpText(
      'after',
      `
loads of selectors, policies of both kinds, join rules in force, webhooks, bounds of admin tokens, and labels that operators gave: to begin with. svc plan of the files
finds nothing to do; the first svc apply takes them over. No secret is in them. The path of a webhook's URL may be one in effect:
then leave it out of a repository that others read.

Examples:
  svc export
  svc export --out fleet/
  svc export --out fleet/ --format yaml --replace
`,
    )
    .action((options: ExportOptions) => exportFleet(context, options))
}

async function exportFleet(context: CommandContext, options: ExportOptions): Promise<void> {
  const { out, format, replace, json } = options
  if (json && out !== undefined) throw new UserError('usage', '--json and --out do not go together')
  const { declaration, left_out: leftOut } = await collect(context, out)
  if (json) return context.output.writeJson({ declaration, left_out: leftOut })
  const { writeFleet } = await import('../../declared/write-fleet.ts')
  const files = writeFleet(declaration, format)
  for (const line of leftOut) context.note(`left out: ${line}`)
  if (out === undefined) {
    await context.output.write(files.map(({ text }) => text).join('\n'))
    return
  }
  await explainFile(out, () => mkdir(out, { recursive: true }))
  for (const { name, text } of files) {
    const path = join(out, `${name}.${format}`)
    await writeOutFile(path, piecesOf(text), { ...(replace && { replace }) })
    await context.output.write(`${path}\n`)
  }
}

/** Root's svc would be the owner of the vault afterwards, and write where that one may: another svc collects for it. */
async function collect(context: CommandContext, out: string | undefined): Promise<CollectedFleet> {
  const printedByOwner = out === undefined ? undefined : context.byOwner?.()
  if (printedByOwner === undefined) {
    const { collectFleet } = await import('./collect-fleet.ts')
    return context.withAdmin(({ operations }) => collectFleet(operations))
  }
  const pieces: Uint8Array[] = []
  for await (const piece of printedByOwner(['export', '--json'])) pieces.push(piece)
  return JSON.parse(Buffer.concat(pieces).toString('utf8')) as CollectedFleet
}

async function* piecesOf(text: string): AsyncGenerator<string> {
  yield text
}
