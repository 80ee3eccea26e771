import type { Command } from 'commander'
import type { CommandContext } from './command-context.ts'
import { renderFields, renderRows } from '../terminal/table.ts'

export function registerWebhookShow(noun: Command, context: CommandContext): void {
  noun
    .command('show')
    .description('show one webhook and the messages that the hub gave up after three days')
    .argument('<webhook>', 'its id, as svc webhook list shows it')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Examples (the id comes from the list):
  id=$(svc webhook list | awk '/alerts.example.org/ { print $NF; exit }')
  svc webhook show "$id"
  svc webhook show "$id" --json
`,
    )
    .action(async (webhook: string, options: { json?: true }) => {
      const shown = await context.withAdmin(({ operations }) => operations.showWebhook({ webhook }))
      if (options.json) return context.output.writeJson(shown)
      const { dead_messages: messages, tipos, ...fields } = shown
      const table = renderRows(
        {
          SEQ: ({ seq }) => seq,
          TIPO: ({ tipo_evento }) => tipo_evento,
          DIED_AT: ({ died_at }) => died_at,
          ERRO: ({ erro }) => erro,
        },
        messages,
      )
      const all = renderFields({ ...fields, tipos: tipos.length === 0 ? 'all' : tipos.join(',') })
      await context.output.write(`${all}${messages.length === 0 ? '' : `\n${table}`}`)
    })
}
