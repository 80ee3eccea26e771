import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import type { DryRunOptions } from '../dry-run.ts'
import {
  addAgentSelection,
  type AgentSelectionOptions,
  SELECTION_HELP,
} from '../hosts/select-agents.ts'
import { chooseHosts } from '../rollout/choose-hosts.ts'
import { describeStart } from '../rollout/describe-rollout.ts'
import {
  addRolloutOptions,
  parseRolloutOptions,
  type RolloutOptions,
  type RolloutRules,
} from '../rollout/rollout-options.ts'
import { type PushAct, pushAct } from './push-act.ts'

const ROTATE: PushAct = {
  acao: 'rotate',
  isTo: 'renew its identity',
  again:
    'run the command again for the hosts that are left: an agent that renews twice loses nothing',
  // Each costs the CA a certificate: 100,000 take about half an hour.
  perSecond: 50,
}

type RotateOptions = AgentSelectionOptions & DryRunOptions & RolloutOptions

export function registerAgenteRotate(agente: Command, context: CommandContext): void {
  const command = addAgentSelection(
    agente.command('rotate').description('tell agents to renew their identities'),
  )
  addRolloutOptions(command)
  const rotateNow = pushAct(context, ROTATE)
  command
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The agent makes a new key and gets a new certificate, as svc-agent rotate does; svc agent show has the new serial
once the agent uses it. An offline agent renews when it is back. svc asks for fifty a second at most.
${SELECTION_HELP}
With --waves, and --all, --where or --role, the hub asks the agents itself, a few first. The next wave opens when the hub has seen each host of
the last one use another identity, and it was so for the time of --soak. A host that has not done so within --late-after has failed; more than
--max-failed freeze the rotation. svc rollout show rotation says how far it is. For new keys of what a load delivers: svc load update --waves.

Examples:
  svc agent rotate web-1.example.org
  svc agent rotate --role web
  svc agent rotate --file hosts.txt
  svc agent rotate --all --waves 1,10%,100% --soak 10m --max-failed 2%
  svc agent rotate --where env=prod --waves 1,100% --dry-run
`,
    )
    .action((name: string | undefined, options: RotateOptions) => {
      const rules = parseRolloutOptions(options)
      return rules === undefined
        ? rotateNow(name, options)
        : rotateInWaves(context, name, options, rules)
    })
}

async function rotateInWaves(
  context: CommandContext,
  name: string | undefined,
  options: RotateOptions,
  rules: RolloutRules,
): Promise<void> {
  const where = chooseHosts(
    { ...options, name },
    {
      usage: '--waves goes with one of --all, --where and --role',
      hint: 'without --waves an agent, or those of a file, are asked at once',
    },
  )
  const started = await context.withAdmin(({ operations }) =>
    operations.startRotation({ ...(where !== undefined && { where }), ...rules }),
  )
  if (options.json) return context.output.writeJson(started)
  await context.output.write(describeStart(started))
}
