import type { Command } from 'commander'
import type { CommandContext } from './command-context.ts'
import { renderDeliveries, renderRevertedTargets } from './entrega-list.ts'
import { renderFields } from '../terminal/table.ts'

export function registerAgenteShow(agente: Command, context: CommandContext): void {
  agente
    .command('show')
    .description('show one agent and its deliveries')
    .argument('<agente>', 'hostname or id')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Examples:
  svc agente show web-1.example.org
  svc agent show web-1.example.org --json
`,
    )
    .action(async (name: string, options: { json?: true }) => {
      const shown = await context.withAdmin(({ operations }) =>
        operations.showAgent({ agente: name }),
      )
      if (options.json) return context.output.writeJson(shown)
      const { entregas, ...fields } = shown
      const deliveries = entregas.length === 0 ? '' : `\n${renderDeliveries(entregas)}`
      const described = renderFields({ ...fields, atrasado: fields.atrasado ? 'yes' : 'no' })
      await context.output.write(`${described}${deliveries}${renderRevertedTargets(entregas)}`)
    })
}
