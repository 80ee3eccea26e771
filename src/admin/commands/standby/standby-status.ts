import type { Command } from 'commander'
import { renderFields } from '../../terminal/table.ts'
import type { CommandContext } from '../command-context.ts'

export function registerStandbyStatus(
  standby: Command,
  { vault, output, progress }: CommandContext,
): void {
  standby
    .command('status')
    .description('show what this machine is, and whether the standby has all writes')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Of a hub: "together" when the standby has all that the hub acknowledged; "alone" when it lacks some (SVC_STANDBY=preferred); "apart" when it is
away and the hub writes nothing (required); "none" without SVC_STANDBY_BIND. Of a standby: "connected", "silent" when its hub says nothing,
"behind" while another copy of the vault is on its way, or "empty" before the first one.

Examples:
  svc standby status
  svc standby status --json
`,
    )
    .action(async ({ json }: { json?: true }) => {
      const status = await vault.standby.status()
      progress.clear()
      if (json) await output.writeJson(status)
      else await output.write(renderFields(output.language, status))
    })
}
