import type { Command } from 'commander'
import { renderFields, stateWord } from '../../terminal/table.ts'
import type { CommandContext } from '../command-context.ts'
import { cargoArgument } from '../named-arguments.ts'

export function registerCargaShow(carga: Command, context: CommandContext): void {
  carga
    .command('show')
    .description('show one load')
    .addArgument(cargoArgument())
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
svc delivery list --load <load> shows what each agent has of it.

Examples:
  svc load show site
  svc load show site --json
`,
    )
    .action(async (name: string, options: { json?: true }) => {
      const shown = await context.withAdmin(({ operations }) =>
        operations.showCargo({ carga: name }),
      )
      if (options.json) return context.output.writeJson(shown)
      const { conteudo, sans, statuses: _counts, ...fields } = shown
      const content = conteudo && { content_bytes: conteudo.bytes, content_sha256: conteudo.sha256 }
      await context.output.write(
        renderFields(context.output.language, {
          ...fields,
          tipo: stateWord(shown.tipo),
          sans: sans.join(','),
          ...content,
        }),
      )
    })
}
