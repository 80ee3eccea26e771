import type { Command } from 'commander'
import { renderFields } from '../../terminal/table.ts'
import type { CommandContext } from '../command-context.ts'
import { readRecoveryIdentityFor } from '../recovery/read-recovery-identity.ts'

interface RestoreOptions {
  readonly recoveryIdentity?: string
  readonly json?: true
}

export function registerRestore(program: Command, context: CommandContext): void {
  program
    .command('restore')
    .description('make a vault in SVC_VAULT_ROOT from a backup')
    .argument('<file>', 'the backup; - is standard input')
    .option(
      '--recovery-identity <file>',
      'a recovery key, in place of the passphrase; - is standard input',
    )
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
SVC_VAULT_ROOT has to be empty or missing: the command never touches an existing vault. It checks the backup as svc backup verify
does, and only then is there a vault; whatever stops it before leaves none. The first new entry of the audit log says which
backup it was.

With SVC_CHECKPOINT_PATH set, as the hub had it, the command does again what was done after the backup: enrolments, which spend their tokens,
and whatever revoked agents and tokens. It says so when any of it may be missing: revoke again by hand, before you start the hub. Hosts
that enrolled or renewed later come back by the receipts that their agents keep.

The vault has the passphrase and the recovery keys that it had when the backup was made. Where the passphrase is lost, restore with a
recovery key, and then set another one: svc passphrase change --recovery-identity FILE.

Examples:
  SVC_VAULT_ROOT=/var/lib/svc SVC_MASTER_PASSPHRASE_FILE=/etc/svc/passphrase svc restore /backup/cartorio.svcbackup
  SVC_VAULT_ROOT=/var/lib/svc svc restore /backup/cartorio.svcbackup --recovery-identity safe.key
`,
    )
    .action((file: string, options: RestoreOptions) => restore(context, file, options))
}

async function restore(
  context: CommandContext,
  file: string,
  options: RestoreOptions,
): Promise<void> {
  const { vault, output, progress, note } = context
  const identity = {
    backup: file,
    name: options.recoveryIdentity,
    command: `svc restore ${file}`,
  }
  const recoveryIdentity = await readRecoveryIdentityFor(context, identity)
  const { path, head, actsDone, gap } = await vault.restore(file, recoveryIdentity)
  progress.clear()
  const fields = {
    vault: path,
    backup_id: head.backupId,
    created_at: head.createdAt,
    actor: head.actor,
    entries: head.log.entries,
    head: head.log.hash,
    acts_done_again: actsDone,
    acts_missing: gap ?? null,
  }
  if (options.json) await output.writeJson(fields)
  else await output.write(renderFields(output.language, fields))
  if (gap === undefined) return
  note(`the vault may lack revocations that are newer than the backup: ${gap}`)
  note(
    `before you start the hub, revoke again who was revoked after ${head.createdAt} (svc agent revoke), and end tokens that were used since (svc token revoke)`,
  )
}
