import type { Command } from 'commander'
import type { AdminReplies } from '../../../protocol/admin/operations.ts'
import type { CommandContext } from '../command-context.ts'
import { showLabels } from '../hosts/label-option.ts'
import { renderDeliveries, renderRevertedTargets } from '../entrega/entrega-list.ts'
import { type Cell, renderFields, yesOrNo } from '../../terminal/table.ts'

export function registerAgenteShow(agente: Command, context: CommandContext): void {
  agente
    .command('show')
    .description('show one agent and its deliveries')
    .argument('<agent>', 'hostname or id')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Examples:
  svc agent show web-1.example.org
  svc agent show web-1.example.org --json
`,
    )
    .action(async (name: string, options: { json?: true }) => {
      const shown = await context.withAdmin(({ operations }) =>
        operations.showAgent({ agente: name }),
      )
      if (options.json) return context.output.writeJson(shown)
      const { language } = context.output
      const { entregas, ...fields } = shown
      const deliveries = entregas.length === 0 ? '' : `\n${renderDeliveries(language, entregas)}`
      const described = renderFields(language, describeAgent(fields))
      await context.output.write(`${described}${deliveries}${renderRevertedTargets(entregas)}`)
    })
}

type SentAgent = AdminReplies['showAgent']
/** An earlier hub does not know all of a host. */
type NewField = 'duplicado' | 'addresses' | 'labels' | 'politicas'
type Fields = Omit<SentAgent, 'entregas' | NewField> & Partial<Pick<SentAgent, NewField>>

function describeAgent(fields: Fields) {
  const { duplicado, addresses, labels, politicas } = fields
  return {
    ...fields,
    labels: showLabels(labels),
    atrasado: yesOrNo(fields.atrasado),
    duplicado: duplicado === undefined ? null : describeDoubled(duplicado),
    addresses: addresses?.join(', ') ?? null,
    politicas: politicas?.join(', ') ?? null,
  }
}

function describeDoubled(doubled: SentAgent['duplicado']): Cell {
  if (doubled === null) return yesOrNo(false)
  const { since, last_at: lastAt, addresses } = doubled
  return `used from two places since ${since}, last at ${lastAt}: ${addresses.join(', ')}`
}
