import type { Command } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import { parseReleaseVersion } from '../../../protocol/release-version.ts'
import { collect } from '../collect.ts'
import type { CommandContext } from '../command-context.ts'
import type { DryRunOptions } from '../dry-run.ts'
import type { AgentSelectionOptions } from '../hosts/select-agents.ts'
import { parseDecidingWhereOption, WHERE_FLAG } from '../hosts/where-option.ts'
import { chooseHosts } from '../rollout/choose-hosts.ts'
import { describeStart } from '../rollout/describe-rollout.ts'
import {
  addRolloutOptions,
  parseRolloutOptions,
  type RolloutOptions,
} from '../rollout/rollout-options.ts'

type UpdateOptions = Omit<AgentSelectionOptions, 'file'> & DryRunOptions & RolloutOptions

/** All at once, with what the other options say by themselves. */
const ONE_WAVE = '100%'

export function registerAgenteUpdate(agente: Command, context: CommandContext): void {
  const command = agente
    .command('update')
    .description('announce a newer version of the agent to hosts')
    .argument('<version>', 'such as 0.5.0')
    .option('--role <role>', 'each agent of this role; repeatable', collect, [])
    .option(WHERE_FLAG, 'each agent that it matches', parseDecidingWhereOption)
    .option('--all', 'each agent')
  addRolloutOptions(command)
  command
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The hub names the version and nothing else. A host that follows announcements (SVC_AGENT_UPDATE_URL in its settings) takes the release from where
that says, checks its signature by the key in its agent, and installs nothing that is not signed, of another version, or not newer than what it has;
a version that does not prove itself is taken back. Agents up to 0.4.0 hear of nothing.

The next wave opens when each host of the last one runs the version, and it was so for the time of --soak. A host that could not install it, that
took it back, or that is not done within --late-after has failed; more than --max-failed freeze the update. A host that does not follow announcements,
or has a newer version, is shown as declined and counts for nothing. svc rollout show update says how far it is.

svc rollout undo update tells no further host, and those no more that have not installed it. It brings no host back to an older version:
svc-agent self-update --allow-downgrade does, on the host.

Examples:
  svc agent update 0.5.0 --all --waves 1,10%,50%,100% --soak 10m --max-failed 2%
  svc agent update 0.5.0 --role web
  svc agent update 0.5.0 --where env=stage --waves 1,100% --dry-run
`,
    )
    .action((version: string, options: UpdateOptions) => announce(context, version, options))
}

async function announce(
  context: CommandContext,
  programa: string,
  options: UpdateOptions,
): Promise<void> {
  if (parseReleaseVersion(programa) === undefined) {
    throw new UserError('programa_invalid', `${programa} is not a version such as 0.5.0`)
  }
  const where = chooseHosts(options, {
    usage: 'say to which hosts by one of --all, --where and --role',
    hint: 'svc agent list --wide shows the agents, their roles and labels',
  })
  const rules = parseRolloutOptions({ ...options, waves: options.waves ?? ONE_WAVE })
  if (rules === undefined) return
  const started = await context.withAdmin(({ operations }) =>
    operations.startUpdate({ programa, ...(where !== undefined && { where }), ...rules }),
  )
  if (options.json) return context.output.writeJson(started)
  await context.output.write(describeStart(started))
}
