import type { Command } from 'commander'
import type { CommandContext } from './command-context.ts'
import type { CheckpointOptions } from './print-checkpoint.ts'

export function registerCheckpoint(program: Command, context: CommandContext): void {
  program
    .command('checkpoint')
    .description('print the newest signed checkpoint of the audit log')
    .option('--key', 'print the key that signs the checkpoints of this log')
    .option(
      '--add-checkpoint <entries>',
      'print the request to a witness that has signed the log with so many entries, 0 for none',
    )
    .option(
      '--cosigned [file]',
      'keep this one, which witnesses have signed too; print the kept one',
    )
    .option('--witness-key <key...>', 'of the witnesses that have signed it')
    .option('--dry-run', 'show what the audit log would say, and change nothing')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
A checkpoint says how many entries the log has, and the root of a tree over all of them. Keep one elsewhere: with it svc can tell
later whether anybody changed or removed an entry before it. The form is c2sp.org/tlog-checkpoint, which witnesses of others take.

A witness of others (c2sp.org/tlog-witness) signs only what goes on from what it has signed before. Send it the request of
--add-checkpoint, put its answer below the checkpoint of that request, and have the vault keep it: svc and the hub check the
signatures, and that the log goes on from there. The hub keeps it in SVC_CHECKPOINT_PATH too, as <vault id>.cosigned.

Examples:
  svc checkpoint
  svc checkpoint --key
  svc checkpoint --add-checkpoint 0
  svc checkpoint --cosigned cosigned.checkpoint --witness-key "$(cat witness.key)"
  svc checkpoint --cosigned
  svc event list --verify --limit 1 --checkpoint yesterday.checkpoint
`,
    )
    .action(async (options: CheckpointOptions) => {
      const { printCheckpoint } = await import('./print-checkpoint.ts')
      await printCheckpoint(context, options)
    })
}
