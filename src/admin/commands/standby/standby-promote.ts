import type { Command } from 'commander'
import { renderFields } from '../../terminal/table.ts'
import type { CommandContext } from '../command-context.ts'

export function registerStandbyPromote(
  standby: Command,
  { vault, output, progress, note }: CommandContext,
): void {
  standby
    .command('promote')
    .description('make this standby the hub')
    .option('--force', 'also while the hub is connected')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Run it on the standby's machine, with svc-server running, when the hub is lost: two machines cannot tell which of them is dead, so a person
says it. svc-server goes on as the hub, with the log in a new epoch. Agents that have seen the new epoch take nothing from the old hub
any more, and the old hub ends when it reaches this machine. Lead the hub's name to this machine.

With SVC_STANDBY=required the standby has every write that the hub acknowledged. With preferred it lacks what the hub acknowledged alone: the
command says so.

Examples:
  svc standby promote
  svc standby promote --force
`,
    )
    .action(async ({ force = false, json }: { force?: boolean; json?: true }) => {
      const promoted = await vault.standby.promote(force)
      progress.clear()
      if (promoted.mode !== 'required') {
        note(
          'the hub had SVC_STANDBY=preferred: what it acknowledged while this standby was away is lost',
        )
      }
      if (json) await output.writeJson(promoted)
      else await output.write(renderFields(output.language, promoted))
    })
}
