import type { Command } from 'commander'
import { UserError } from '../../platform/errors.ts'
import type { CommandContext } from './command-context.ts'

interface CheckpointOptions {
  readonly key?: true
  readonly json?: true
}

export function registerCheckpoint(program: Command, context: CommandContext): void {
  program
    .command('checkpoint')
    .description('print the newest signed checkpoint of the audit log')
    .option('--key', 'print the key that signs the checkpoints of this log')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
A checkpoint says how many entries the log has, and the root of a tree over all of them. Keep one elsewhere: with it svc can tell
later whether anybody changed or removed an entry before it. The form is c2sp.org/tlog-checkpoint, which witnesses of others take.

Examples:
  svc checkpoint
  svc checkpoint --key
  svc event list --verify --limit 1 --checkpoint yesterday.checkpoint
`,
    )
    .action(async (options: CheckpointOptions) => {
      const signed = await context.withAdmin(({ operations }) => operations.showCheckpoint({}))
      if (options.json) {
        await context.output.writeJson(signed)
        return
      }
      if (signed.checkpoint === null || signed.key === null) {
        throw new UserError('checkpoint_missing', 'the hub has signed no checkpoint', {
          hint: 'start the hub: it signs the first one within a second',
        })
      }
      await context.output.write(options.key ? `${signed.key}\n` : signed.checkpoint)
    })
}
