import type { Command } from 'commander'
import type { CommandContext } from './command-context.ts'
import { whenTold } from './when-told.ts'

export function registerAgenteSync(agente: Command, context: CommandContext): void {
  agente
    .command('sync')
    .description('tell an agent to look for what is new now, not at its next poll')
    .argument('<agente>', 'hostname or id')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
An offline agent looks when it is back.

Examples:
  svc agente sync web-1.example.org
`,
    )
    .action(async (name: string, options: { json?: true }) => {
      const reply = await context.withAdmin(({ operations }) =>
        operations.pushToAgent({ agente: name, acao: 'sync' }),
      )
      if (options.json) return context.output.writeJson(reply)
      await context.output.write(`agente ${name} is to look now${whenTold(reply)}\n`)
    })
}
