import type { Command } from 'commander'
import { renderFields } from '../../terminal/table.ts'
import type { CommandContext } from '../command-context.ts'
import { readRecoveryIdentityFor } from '../recovery/read-recovery-identity.ts'

interface VerifyOptions {
  readonly scratch?: string
  readonly recoveryIdentity?: string
  readonly json?: true
}

export function registerBackupVerify(backup: Command, context: CommandContext): void {
  backup
    .command('verify')
    .description('open a backup, and check all of it')
    .argument('<file>', 'the backup; - is standard input')
    .option('--scratch <directory>', 'with room for the database, in place of TMPDIR or /var/tmp')
    .option(
      '--recovery-identity <file>',
      'a recovery key, in place of the passphrase; - is standard input',
    )
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Needs no vault and no hub, only the passphrase that opened the vault when the backup was made (SVC_MASTER_PASSPHRASE, or the file that
SVC_MASTER_PASSPHRASE_FILE names) or a recovery key that it had then. Opens each frame, reads every page of the database, and checks the hash chain of the audit log
up to the head that the backup names. The database is unpacked for that, encrypted as it is, and removed again.

Examples:
  svc backup verify /backup/cartorio.svcbackup
  ssh backup.example.org cat cartorio.svcbackup | svc backup verify -
  age -d safe.key.age | svc backup verify /backup/cartorio.svcbackup --recovery-identity -
`,
    )
    // An option that `svc backup` has too is parsed as that one’s.
    .action((file: string, _options: object, command: Command) =>
      verify(context, file, command.optsWithGlobals<VerifyOptions>()),
    )
}

async function verify(
  context: CommandContext,
  file: string,
  { scratch, recoveryIdentity: name, json }: VerifyOptions,
): Promise<void> {
  const { vault, output, progress } = context
  const identity = { backup: file, name, command: `svc backup verify ${file}` }
  const recoveryIdentity = await readRecoveryIdentityFor(context, identity)
  const head = await vault.verifyBackup(file, { scratch, recoveryIdentity })
  progress.clear()
  const fields = {
    file,
    backup_id: head.backupId,
    vault_id: head.vaultId,
    created_at: head.createdAt,
    actor: head.actor,
    version: head.program,
    database_bytes: head.store.bytes,
    entries: head.log.entries,
    head: head.log.hash,
  }
  if (json) await output.writeJson({ ...fields, ok: true })
  else {
    const checked = 'frames ok, every page ok, hash chain ok up to the head\n'
    await output.write(`${renderFields(output.language, fields)}${checked}`)
  }
}
