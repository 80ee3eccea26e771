import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { type PushAct, pushAct } from './push-act.ts'
import { addAgentSelection, SELECTION_HELP } from '../hosts/select-agents.ts'

const ROTATE: PushAct = {
  acao: 'rotate',
  isTo: 'renew its identity',
  again:
    'run the command again for the hosts that are left: an agent that renews twice loses nothing',
  // Each costs the CA a certificate: 100,000 take about half an hour.
  perSecond: 50,
}

export function registerAgenteRotate(agente: Command, context: CommandContext): void {
  addAgentSelection(agente.command('rotate').description('tell agents to renew their identities'))
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The agent makes a new key and gets a new certificate, as svc-agent rotate does; svc agent show has the new serial
once the agent uses it. An offline agent renews when it is back. svc asks for fifty a second at most.
${SELECTION_HELP}
Examples:
  svc agent rotate web-1.example.org
  svc agent rotate --role web
  svc agent rotate --file hosts.txt
`,
    )
    .action(pushAct(context, ROTATE))
}
