import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import type { EventoProofOptions } from './prove-entry.ts'

export function registerEventoProof(evento: Command, context: CommandContext): void {
  evento
    .command('proof')
    .description('print a proof that one event is in the audit log, for others to verify')
    .argument('<seq>', 'the number of the event')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The proof has the event, the newest checkpoint, and the hashes that lead from the one to the other: about a kilobyte, however long the
log is. svc event verify checks it without vault and hub, and so do other programs that know c2sp.org/tlog-proof. It shows nothing
of other events. The event itself is in it, so keep it like the log.

Examples:
  svc event proof 4711
  svc event verify revocation.tlog-proof --key "$(cat log.key)"
`,
    )
    .action(async (seq: string, options: EventoProofOptions) => {
      const { proveEntry } = await import('./prove-entry.ts')
      await proveEntry(context, seq, options)
    })
}
