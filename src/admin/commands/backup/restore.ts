import type { Command } from 'commander'
import { renderFields } from '../../terminal/table.ts'
import type { CommandContext } from '../command-context.ts'

export function registerRestore(program: Command, context: CommandContext): void {
  program
    .command('restore')
    .description('make a vault in SVC_VAULT_ROOT from a backup')
    .argument('<file>', 'the backup; - is standard input')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
SVC_VAULT_ROOT has to be empty or missing: the command never touches an existing vault. It checks the backup as svc backup verify
does, and only then is there a vault; whatever stops it before leaves none. The first new entry of the audit log says which
backup it was.

The vault knows nothing that is newer than the backup: agents that were revoked later have to be revoked again, and tokens that were used
later can be used again until they expire. Hosts that enrolled or renewed later come back by the receipts that their agents keep.

Examples:
  SVC_VAULT_ROOT=/var/lib/svc SVC_MASTER_PASSPHRASE_FILE=/etc/svc/passphrase svc restore /backup/cartorio.svcbackup
`,
    )
    .action((file: string, options: { json?: true }) => restore(context, file, options))
}

async function restore(
  { vault, output, progress, note }: CommandContext,
  file: string,
  options: { readonly json?: true },
): Promise<void> {
  const { path, head } = await vault.restore(file)
  progress.clear()
  const fields = {
    vault: path,
    backup_id: head.backupId,
    created_at: head.createdAt,
    actor: head.actor,
    entries: head.log.entries,
    head: head.log.hash,
  }
  if (options.json) await output.writeJson(fields)
  else await output.write(renderFields(output.language, fields))
  note(`revoke again who was revoked after ${head.createdAt}, before you start the hub`)
}
