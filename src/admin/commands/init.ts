import type { Command } from 'commander'
import type { CommandContext } from './command-context.ts'

export function registerInit(program: Command, { vault, output }: CommandContext): void {
  program
    .command('init')
    .description('create the encrypted vault in SVC_VAULT_ROOT')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The command never touches an existing vault. The passphrase comes from SVC_MASTER_PASSPHRASE, or from the file that
SVC_MASTER_PASSPHRASE_FILE names; without it nobody can ever open the vault again.

Examples:
  openssl rand -base64 32 > passphrase && chmod 600 passphrase
  SVC_VAULT_ROOT=$PWD/vault SVC_MASTER_PASSPHRASE_FILE=$PWD/passphrase svc init
`,
    )
    .action(async (options: { json?: true }) => {
      const path = await vault.create()
      if (options.json) await output.writeJson({ vault: path })
      else await output.write(`vault initialised at ${path}\n`)
    })
}
