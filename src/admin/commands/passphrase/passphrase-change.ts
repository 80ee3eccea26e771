import type { Command } from 'commander'
import { readNewPassphrase } from '../../doors/new-passphrase.ts'
import type { CommandContext } from '../command-context.ts'
import { readFrom } from '../read-from.ts'
import { readRecoveryIdentity } from '../recovery/read-recovery-identity.ts'
import { rehearsedKeyChange } from '../rehearsed-key-change.ts'

const COMMAND = 'svc passphrase change'

interface ChangeOptions {
  readonly newPassphraseFile?: string
  readonly recoveryIdentity?: string
  readonly json?: true
  readonly dryRun?: true
}

export function registerPassphraseChange(passphrase: Command, context: CommandContext): void {
  passphrase
    .command('change')
    .description('set another master passphrase')
    .option(
      '--new-passphrase-file <file>',
      'the file that holds the new passphrase; - is standard input',
    )
    .option(
      '--recovery-identity <file>',
      'a recovery key, in place of a lost passphrase; - is standard input',
    )
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The hub must be stopped, and needs the new passphrase for its next start. The old passphrase comes from SVC_MASTER_PASSPHRASE,
or from the file that SVC_MASTER_PASSPHRASE_FILE names. On a terminal svc asks for what is missing, and shows nothing of it.

The database stays as it is: only the key to it is wrapped again. So the old passphrase still opens with an old copy of
config.json, for example in a backup.

Examples:
  systemctl stop svc-server
  (umask 077; openssl rand -base64 32 > /etc/svc-server/master-passphrase.new)
  svc passphrase change --new-passphrase-file /etc/svc-server/master-passphrase.new
  mv /etc/svc-server/master-passphrase.new /etc/svc-server/master-passphrase
  systemctl start svc-server

  svc passphrase change --recovery-identity safe.key --new-passphrase-file master-passphrase.new
  age -d safe.key.age | svc passphrase change --recovery-identity - --new-passphrase-file master-passphrase.new
`,
    )
    .action((options: ChangeOptions) => changePassphrase(context, options))
}

async function changePassphrase(context: CommandContext, options: ChangeOptions): Promise<void> {
  const { vault, output } = context
  const { newPassphraseFile: file, json, dryRun } = options
  // With the operator's own rights: before svc becomes the owner of the vault.
  const newPassphrase = await readFrom(context, file, readNewPassphrase)
  const recoveryIdentity = await readRecoveryIdentity(context, options.recoveryIdentity, COMMAND)
  const isRehearsal = dryRun === true
  const report = await vault.changePassphrase({ newPassphrase, recoveryIdentity, isRehearsal })
  if (isRehearsal) throw rehearsedKeyChange(report)
  const { path, payload } = report
  if (json) return output.writeJson({ vault: path, ...payload })
  await output.write(
    `master passphrase of ${path} changed\nthe next start of the hub needs the new passphrase\n`,
  )
}
