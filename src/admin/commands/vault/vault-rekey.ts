import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { rehearsedKeyChange } from '../rehearsed-key-change.ts'

interface RekeyOptions {
  readonly to: string
  readonly json?: true
  readonly dryRun?: true
}

export function registerVaultRekey(noun: Command, { vault, output }: CommandContext): void {
  noun
    .command('rekey')
    .description('make the vault again under a new data key')
    .requiredOption('--to <directory>', 'where the new vault comes: missing, or empty')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The hub must be stopped. The new vault has the same passphrase, recovery keys and log, and a new key for all of it, so that old
copies and old keys open nothing of what comes. svc reads every page and the whole log of the new vault; it needs twice the size
of db.enc. Then it renames config.json of the vault in SVC_VAULT_ROOT to config.json.rekeyed, and changes nothing else there: no
hub starts with it before somebody renames it back. Put the new vault into the place of the old one. The hub asks the CA for a new server certificate when it starts. Backups from before open with the old key only.

Examples:
  systemctl stop svc-server
  install -d -o svc-server -g svc-server -m 700 /var/lib/svc.new
  svc vault rekey --to /var/lib/svc.new
  mv /var/lib/svc /var/lib/svc.old && mv /var/lib/svc.new /var/lib/svc
  systemctl start svc-server
`,
    )
    .action(async ({ to: directory, json, dryRun }: RekeyOptions) => {
      const to = resolve(directory)
      const report = await vault.rekey({ to, isRehearsal: dryRun === true })
      if (dryRun) throw rehearsedKeyChange(report)
      const { path, payload } = report
      if (json) return output.writeJson({ vault: path, new_vault: to, ...payload })
      await output.write(
        `new vault at ${to}, read and verified\n${path} is set aside, and no hub starts with it: put the new vault in its place\n`,
      )
    })
}
