import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { renderAffected, renderPolicy } from './render-policy.ts'

export function registerPoliticaShow(politica: Command, context: CommandContext): void {
  politica
    .command('show')
    .description('show the policy of one role, its agents and what it forbids')
    .argument('<role>', "the role, or '*'")
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Examples:
  svc policy show web
  svc policy show '*' --json
`,
    )
    .action(async (role: string, options: { json?: true }) => {
      const shown = await context.withAdmin(({ operations }) => operations.showPolicy({ role }))
      if (options.json) return context.output.writeJson(shown)
      const { length } = shown.agentes
      const count = `\nholds for ${length} ${length === 1 ? 'agent' : 'agents'}\n`
      await context.output.write(
        `${renderPolicy(context.output.language, shown)}${count}${renderAffected(context.output.language, shown.cargas_afetadas)}`,
      )
    })
}
