import type { Command } from 'commander'
import { printable } from '../../../platform/printable.ts'
import type { CommandContext } from '../command-context.ts'
import { renderAffected } from './render-policy.ts'

export function registerPoliticaRemove(politica: Command, context: CommandContext): void {
  politica
    .command('remove')
    .description('end the policy of a role')
    .argument('<role>', "the role, or '*'")
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Afterwards the policy of '*' applies to the agents of the role, or no policy. The agents keep what they have: their
certificates live to their end, and the hub cancels no delivery.

Examples:
  svc policy remove web
  svc policy remove '*' --json
`,
    )
    .action(async (role: string, options: { json?: true }) => {
      const removed = await context.withAdmin(({ operations }) => operations.removePolicy({ role }))
      if (options.json) return context.output.writeJson(removed)
      const affected = renderAffected(context.output.language, removed.cargas_afetadas)
      await context.output.write(`policy of role ${printable(removed.role)} removed\n${affected}`)
    })
}
