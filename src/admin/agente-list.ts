import type { Command } from 'commander'
import type { CommandContext } from './command-context.ts'
import { renderTable } from './table.ts'

export function registerAgenteList(agente: Command, context: CommandContext): void {
  agente
    .command('list')
    .description('list the agents by hostname')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Examples:
  svc agente list
  svc agent list --json
`,
    )
    .action((options: { json?: true }) => listAgents(context, options.json === true))
}

async function listAgents(context: CommandContext, asJson: boolean): Promise<void> {
  const list = await context.withAdmin(({ operations }) => operations.listAgents({}))
  if (asJson) return context.output.writeJson(list)
  const head = ['HOSTNAME', 'ROLE', 'STATE', 'LAST_SEEN_AT', 'LAST_POLL_AT', 'CERT_NOT_AFTER', 'ID']
  const rows = list.agentes.map((agent) => [
    agent.hostname,
    agent.role,
    agent.revoked_at === null ? 'registered' : 'revoked',
    agent.last_seen_at,
    agent.last_poll_at,
    agent.cert_not_after,
    agent.id,
  ])
  await context.output.write(renderTable(head, rows))
}
