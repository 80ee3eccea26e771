import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import type { EventoVerifyOptions } from './verify-export.ts'

export function registerEventoVerify(evento: Command, context: CommandContext): void {
  evento
    .command('verify')
    .description('check an export of the audit log, without vault and hub')
    .argument('<file>', 'what svc event export has written')
    .requiredOption('--key <key>', 'of the log, as svc checkpoint --key shows it')
    .option('--checkpoint <file>', 'the log must go on from this checkpoint')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
svc checks that every line is a record, that the hash chain is whole, that exactly these entries are in the tree that the checkpoint was
signed for, and that this key signed it. With --checkpoint it also checks that the log still begins with what somebody kept the checkpoint
of. Have the key from somewhere else than the export. The exit status is 1 when anything is wrong.

Examples:
  svc event verify log.export --key "$(cat log.key)"
  svc event verify log.export --key "$(cat log.key)" --checkpoint last-year.checkpoint
`,
    )
    .action(async (file: string, options: EventoVerifyOptions) => {
      const { printExportVerification } = await import('./verify-export.ts')
      await printExportVerification(context, file, options)
    })
}
