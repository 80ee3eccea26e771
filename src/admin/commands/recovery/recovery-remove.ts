import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { rehearsedKeyChange } from '../rehearsed-key-change.ts'

export function registerRecoveryRemove(recovery: Command, { vault, output }: CommandContext): void {
  recovery
    .command('remove')
    .description('end a recovery key')
    .argument('<name>', 'the name of the key')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The hub must be stopped. The key still opens an old copy of config.json, for example in a backup.

Examples:
  svc recovery remove safe
`,
    )
    .action(async (name: string, { json, dryRun }: { json?: true; dryRun?: true }) => {
      const report = await vault.removeRecoveryKey({ name, isRehearsal: dryRun === true })
      if (dryRun) throw rehearsedKeyChange(report)
      const { path, payload } = report
      if (json) return output.writeJson({ vault: path, ...payload })
      await output.write(`recovery key ${name} no longer opens ${path}\n`)
    })
}
