import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { renderFields, renderRows, stateWord } from '../../terminal/table.ts'
import { describeTypes } from './webhook-list.ts'

export function registerWebhookShow(noun: Command, context: CommandContext): void {
  noun
    .command('show')
    .description('show one webhook and the messages that the hub gave up')
    .argument('<webhook>', 'its id, as svc webhook list shows it')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Examples (the id comes from the list):
  id=$(svc webhook list | awk '/alerts.example.org/ { print $6; exit }')
  svc webhook show "$id"
  svc webhook show "$id" --json
`,
    )
    .action(async (webhook: string, options: { json?: true }) => {
      const shown = await context.withAdmin(({ operations }) => operations.showWebhook({ webhook }))
      if (options.json) return context.output.writeJson(shown)
      const { language } = context.output
      const { dead_messages: messages, tipos, ...fields } = shown
      const table = renderRows(
        language,
        {
          seq: ({ seq }) => seq,
          tipo_evento: ({ tipo_evento }) => tipo_evento,
          died_at: ({ died_at }) => died_at,
          erro: ({ erro }) => erro,
        },
        messages,
      )
      const all = renderFields(language, {
        ...fields,
        state: stateWord(shown.state),
        tipos: describeTypes({ url: shown.url, tipos }),
      })
      await context.output.write(`${all}${messages.length === 0 ? '' : `\n${table}`}`)
    })
}
