import type { Command } from 'commander'
import type { RecoveryKey } from '../../doors/admin-session.ts'
import { type Columns, renderRows } from '../../terminal/table.ts'
import type { CommandContext } from '../command-context.ts'

const COLUMNS: Columns<RecoveryKey> = {
  name: ({ name }) => name,
  recipient_fingerprint: ({ fingerprint }) => fingerprint,
  created_at: ({ createdAt }) => createdAt.toISOString(),
}

export function registerRecoveryList(recovery: Command, { vault, output }: CommandContext): void {
  recovery
    .command('list')
    .description('list the recovery keys')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Reads config.json, which the master passphrase authenticates; a hub may run.

Examples:
  svc recovery list
  svc recovery list --json
`,
    )
    .action(async ({ json }: { json?: true }) => {
      const keys = await vault.listRecoveryKeys()
      if (!json) return output.write(renderRows(output.language, COLUMNS, keys))
      const views = keys.map(({ name, recipient, fingerprint, createdAt }) => ({
        name,
        recipient,
        recipient_fingerprint: fingerprint,
        created_at: createdAt.toISOString(),
      }))
      await output.writeJson({ recovery_keys: views })
    })
}
