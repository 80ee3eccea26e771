import type { Command } from 'commander'
import type { AdminDelivery } from '../protocol/admin.ts'
import type { CommandContext } from './command-context.ts'
import { renderTable } from './table.ts'

export function registerEntregaList(entrega: Command, context: CommandContext): void {
  entrega
    .command('list')
    .description('list the deliveries, oldest first')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Examples:
  svc entrega list
  svc delivery list --json
`,
    )
    .action((options: { json?: true }) => listDeliveries(context, options.json === true))
}

async function listDeliveries(context: CommandContext, asJson: boolean): Promise<void> {
  const list = await context.withAdmin(({ operations }) => operations.listDeliveries({}))
  if (asJson) return context.output.writeJson(list)
  await context.output.write(renderDeliveries(list.entregas))
}

export function renderDeliveries(deliveries: readonly AdminDelivery[]): string {
  const head = ['HOSTNAME', 'NOME', 'TIPO', 'VERSAO', 'STATUS', 'UPDATED_AT', 'ERRO', 'ID']
  const rows = deliveries.map((delivery) => [
    delivery.hostname,
    delivery.nome,
    delivery.tipo,
    delivery.versao,
    delivery.status,
    delivery.updated_at,
    delivery.erro,
    delivery.id,
  ])
  return renderTable(head, rows)
}
