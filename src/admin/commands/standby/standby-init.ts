import type { Command } from 'commander'
import { renderFields } from '../../terminal/table.ts'
import type { CommandContext } from '../command-context.ts'

export function registerStandbyInit(
  standby: Command,
  { vault, output, progress }: CommandContext,
): void {
  standby
    .command('init')
    .description('make this machine the standby of a hub')
    .requiredOption('--from <file>', 'config.json of the hub’s vault')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
SVC_VAULT_ROOT names a directory that is empty or missing. The passphrase is that of config.json: by the key in it hub and standby know each
other, and no certificate is needed. The hub has SVC_STANDBY_BIND, where svc-server of this machine connects: the hub sends it a copy of its
vault, and each write from then on.

Examples:
  SVC_VAULT_ROOT=/var/lib/svc svc standby init --from /etc/svc/config.json
  svc-server --standby https://hub1.example.org:8447
`,
    )
    .action(async ({ from, json }: { from: string; json?: true }) => {
      const { path, vaultId } = await vault.standby.init(from)
      progress.clear()
      const fields = { vault: path, vault_id: vaultId }
      if (json) await output.writeJson(fields)
      else await output.write(renderFields(output.language, fields))
    })
}
