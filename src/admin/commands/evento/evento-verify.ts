import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import type { EventoVerifyOptions } from './verify-file.ts'

export function registerEventoVerify(evento: Command, context: CommandContext): void {
  evento
    .command('verify')
    .description('check an export of the audit log, or a proof, without vault and hub')
    .argument('<file>', 'what svc event export or svc event proof has written')
    .requiredOption('--key <key>', 'of the log, as svc checkpoint --key shows it')
    .option('--checkpoint <file>', 'the log must go on from this checkpoint')
    .option('--receipts <file>', 'the log must have the entries that an agent kept receipts of')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
svc checks that every line is a record, that the hash chain is whole, that exactly these entries are in the tree that the checkpoint was
signed for, and that this key signed it. With --checkpoint it also checks that the log still begins with what somebody kept the checkpoint
of. With --receipts it checks that each event that an agent sent is in the log as the hub confirmed it: take a copy of the agent's
state/receipts.jsonl first, and export the log after that. Have the key from somewhere else than the export. The exit status is 1
when anything is wrong, and 2 when only receipts do not agree with the log.

Examples:
  svc event verify log.export --key "$(cat log.key)"
  svc event verify log.export --key "$(cat log.key)" --checkpoint last-year.checkpoint
  svc event verify log.export --key "$(cat log.key)" --receipts web-1.receipts.jsonl
`,
    )
    .action(async (file: string, options: EventoVerifyOptions) => {
      const { printVerification } = await import('./verify-file.ts')
      await printVerification(context, file, options)
    })
}
