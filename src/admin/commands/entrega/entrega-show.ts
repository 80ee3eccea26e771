import type { Command } from 'commander'
import { renderFields, stateWord } from '../../terminal/table.ts'
import type { CommandContext } from '../command-context.ts'
import { deliveryArgument } from '../named-arguments.ts'
import { firstLineOf, renderRevertedTargets, stateOf } from './entrega-list.ts'

export function registerEntregaShow(entrega: Command, context: CommandContext): void {
  entrega
    .command('show')
    .description('show one delivery')
    .addArgument(deliveryArgument())
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Examples:
  svc delivery show web-1.example.org/site
  svc delivery show web-1.example.org/site --json
`,
    )
    .action(async (name: string, options: { json?: true }) => {
      const shown = await context.withAdmin(({ operations }) =>
        operations.showDelivery({ entrega: name }),
      )
      if (options.json) return context.output.writeJson(shown)
      const { alvos_revertidos: _targets, erro, sans, ...fields } = shown
      const described = renderFields(context.output.language, {
        ...fields,
        tipo: stateWord(shown.tipo),
        status: stateWord(stateOf(shown)),
        erro: firstLineOf(erro),
        sans: sans.join(','),
      })
      await context.output.write(`${described}${renderRevertedTargets([shown])}`)
    })
}
