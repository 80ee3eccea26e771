import { type Command, Option } from 'commander'
import type { VaultMigration } from '../../doors/admin-session.ts'
import type { CommandContext } from '../command-context.ts'

interface MigrateOptions {
  readonly to: VaultMigration['to']
  readonly replace?: true
  readonly json?: true
}

export function registerVaultMigrate(
  noun: Command,
  { vault, output, progress }: CommandContext,
): void {
  noun
    .command('migrate')
    .description('give the vault a journal in PostgreSQL, or end that')
    .addOption(
      new Option('--to <place>', 'where its journal is from then on: postgresql, or embedded')
        .choices(['postgresql', 'embedded'])
        .makeOptionMandatory(),
    )
    .option('--replace', 'remove the journal that the database has of this vault')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
SVC_DATABASE_URL names the PostgreSQL. No hub of this vault may run, here or elsewhere.

--to postgresql writes an image of the whole vault into the database, sealed with the data key. From then on the hub acknowledges a write
when the database has it: a hub whose machine is lost comes back by svc join, with everything. The vault stays where it is, as the copy that
the hub reads. Keep config.json elsewhere, too: without it nobody can open what is in the database.

With --replace the journal that the database has of this vault is removed, and begins again with what is in SVC_VAULT_ROOT: after a restore, or
when a failover of the database lost records.

--to embedded reads what the database has, and removes it there; the vault is whole without the database.

A kill at any moment leaves the vault as it was, or moved: run the command again.

Examples:
  systemctl stop svc-server
  SVC_DATABASE_URL_FILE=/etc/svc/database-url svc vault migrate --to postgresql
  SVC_DATABASE_URL_FILE=/etc/svc/database-url svc vault migrate --to embedded
`,
    )
    .action(async ({ to, replace, json }: MigrateOptions) => {
      const report = await vault.migrate({ to, replaces: replace === true })
      progress.clear()
      const { path, isChanged } = report
      if (json) return output.writeJson({ vault: path, to, changed: isChanged })
      const where = to === 'embedded' ? 'is embedded' : 'has its journal in the PostgreSQL'
      await output.write(`the vault at ${path} ${where}${isChanged ? '' : ' already'}\n`)
    })
}
