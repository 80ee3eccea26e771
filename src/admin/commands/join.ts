import type { Command } from 'commander'
import { renderFields } from '../terminal/table.ts'
import type { CommandContext } from './command-context.ts'

interface JoinOptions {
  readonly from: string
  readonly json?: true
}

export function registerJoin(
  program: Command,
  { vault, output, progress, note }: CommandContext,
): void {
  program
    .command('join')
    .description('make a vault in SVC_VAULT_ROOT of the journal in PostgreSQL')
    .requiredOption('--from <file>', 'config.json of a vault that shares the journal')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
SVC_DATABASE_URL names the PostgreSQL, SVC_VAULT_ROOT a directory that is empty or missing. The command reads the newest image of the vault
and all that was written since; the vault then has everything that any hub acknowledged. Whatever stops the command leaves no vault.

The passphrase is that of config.json, which has to be the newest: the database has no copy of it, so that a stolen dump offers nothing to
guess at.

Examples:
  SVC_VAULT_ROOT=/var/lib/svc SVC_DATABASE_URL_FILE=/etc/svc/database-url svc join --from /etc/svc/config.json
`,
    )
    .action(async ({ from, json }: JoinOptions) => {
      const { path, vaultId, entries, damaged } = await vault.join(from)
      progress.clear()
      for (const fault of damaged) note(`an older image was taken: ${fault}`)
      const fields = { vault: path, vault_id: vaultId, entries }
      if (json) await output.writeJson(fields)
      else await output.write(renderFields(output.language, fields))
    })
}
