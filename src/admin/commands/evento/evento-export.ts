import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import type { EventoExportOptions } from './export-log.ts'

export function registerEventoExport(evento: Command, context: CommandContext): void {
  evento
    .command('export')
    .description('write the audit log with its checkpoint and proofs, for others to verify')
    .requiredOption('--out <file>', 'where to; - is standard output')
    .option('--after <seq>', 'only events after the event with this number')
    .option('--before <seq>', 'only events before the event with this number')
    .option('--replace', 'replace the file if it exists')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The export ends with the newest event of the newest checkpoint, and svc event verify checks it without vault and hub. A part of the log
(--after, --before) carries the hashes of the rest of the tree: it is verified as the whole log is. The file appears under its name
when it is whole, and only its owner may read it: the log names hosts and people.

Examples:
  svc event export --out "/evidence/log-$(date +%F).export"
  svc event export --after 120000 --out since-the-audit.export
  svc event export --before 1001 --out -
`,
    )
    .action(async (options: EventoExportOptions) => {
      const { exportLog } = await import('./export-log.ts')
      await exportLog(context, options)
    })
}
