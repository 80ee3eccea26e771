import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { type PushAct, pushAct } from './push-act.ts'
import { addAgentSelection, SELECTION_HELP } from '../hosts/select-agents.ts'

const SYNC: PushAct = {
  acao: 'sync',
  isTo: 'look now',
  again: 'run the command again: an agent that looks twice loses nothing',
}

export function registerAgenteSync(agente: Command, context: CommandContext): void {
  addAgentSelection(
    agente
      .command('sync')
      .description('tell agents to look for what is new now, not at their next poll'),
  )
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
An offline agent looks when it is back.
${SELECTION_HELP}
Examples:
  svc agent sync web-1.example.org
  svc agent sync --all
  cut -d, -f1 hosts.csv | svc agent sync --file -
`,
    )
    .action(pushAct(context, SYNC))
}
