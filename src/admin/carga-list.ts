import type { Command } from 'commander'
import type { CommandContext } from './command-context.ts'
import { renderTable } from './table.ts'

export function registerCargaList(carga: Command, context: CommandContext): void {
  carga
    .command('list')
    .description('list the cargas, oldest first')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Examples:
  svc carga list
  svc load list --json
`,
    )
    .action((options: { json?: true }) => listCargoes(context, options.json === true))
}

async function listCargoes(context: CommandContext, asJson: boolean): Promise<void> {
  const list = await context.withAdmin(({ operations }) => operations.listCargoes({}))
  if (asJson) return context.output.writeJson(list)
  const head = ['NOME', 'TIPO', 'VERSAO', 'SANS', 'CREATED_AT', 'ID']
  const rows = list.cargas.map((cargo) => [
    cargo.nome,
    cargo.tipo,
    cargo.versao,
    cargo.sans.join(','),
    cargo.created_at,
    cargo.id,
  ])
  await context.output.write(renderTable(head, rows))
}
