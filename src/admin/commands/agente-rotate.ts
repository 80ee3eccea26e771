import type { Command } from 'commander'
import type { CommandContext } from './command-context.ts'
import { whenTold } from './when-told.ts'

export function registerAgenteRotate(agente: Command, context: CommandContext): void {
  agente
    .command('rotate')
    .description('tell an agent to renew its identity')
    .argument('<agente>', 'hostname or id')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The agent makes a new key and gets a new certificate, as svc-agent rotate does; svc agente show has the new serial
once the agent uses it. An offline agent renews when it is back.

Examples:
  svc agente rotate web-1.example.org
`,
    )
    .action(async (name: string, options: { json?: true }) => {
      const reply = await context.withAdmin(({ operations }) =>
        operations.pushToAgent({ agente: name, acao: 'rotate' }),
      )
      if (options.json) return context.output.writeJson(reply)
      await context.output.write(`agente ${name} is to renew its identity${whenTold(reply)}\n`)
    })
}
