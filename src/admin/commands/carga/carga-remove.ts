import type { Command } from 'commander'
import { awaitChange } from '../await-change.ts'
import type { CommandContext } from '../command-context.ts'
import { cargoArgument } from '../named-arguments.ts'
import { ifVersaoOption } from './if-versao.ts'

export function registerCargaRemove(carga: Command, context: CommandContext): void {
  carga
    .command('remove')
    .description('end a load, and cancel its deliveries')
    .addArgument(cargoArgument())
    .addOption(ifVersaoOption())
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The files on the hosts stay there, and the agents no longer renew them.

Examples:
  svc load remove site
  svc load remove site --dry-run
`,
    )
    .action(async (id: string, options: { ifVersao?: number; json?: true }) => {
      const { ifVersao: versao } = options
      const request = { carga: id, ...(versao === undefined ? {} : { versao }) }
      const removed = await context.withAdmin(({ operations }) =>
        awaitChange(context, operations, operations.removeCargo(request)),
      )
      if (options.json) return context.output.writeJson(removed)
      await context.output.write(`load ${removed.nome} (${removed.id}) removed\n`)
    })
}
