import type { Command } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import type { AdminReplies, AdminRequest } from '../../../protocol/admin/operations.ts'
import type { CommandContext } from '../command-context.ts'
import { parseLabelWords } from '../hosts/label-option.ts'
import { parseDecidingWhereOption, WHERE_FLAG } from '../hosts/where-option.ts'

interface AgenteLabelOptions {
  readonly where?: string
  readonly json?: true
}

export function registerAgenteLabel(agente: Command, context: CommandContext): void {
  agente
    .command('label')
    .description('give labels to agents, and take labels away')
    .argument('<words...>', 'hostname or id, then key=value and key-; with --where only these')
    .option(WHERE_FLAG, 'each agent that it matches')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
key=value gives a label, in place of the value that the key had, and key- takes it away. Keys and values have up to 63 letters,
digits, -, _ and ., and begin and end with a letter or a digit; key= is a label without a value. An agent has at most 32 labels,
besides those that it reports itself: nobody else gives or takes labels that begin with host.

A selector has terms that all have to match: env=prod, env!=prod, env in (prod,stage), env notin (prod,stage), env for whatever
value, !env for none. It knows role and name (the hostname) too. With --where revoked agents are left out, and the hub works on
250 agents at a time: when it is stopped, run the command again.

Examples:
  svc agent label web-1.example.org env=prod canary-
  svc agent label --where 'role=web,!env' env=stage
  svc agent label --where 'env=stage' --dry-run canary=
  svc agent list --where 'role=web,env in (prod,stage),!canary'
`,
    )
    .action((words: readonly string[], options: AgenteLabelOptions) =>
      label(context, words, options),
    )
}

async function label(
  context: CommandContext,
  words: readonly string[],
  options: AgenteLabelOptions,
): Promise<void> {
  const request = toRequest(words, options)
  const done = await context.withAdmin(({ operations }) => operations.labelAgents(request))
  if (options.json) return context.output.writeJson(done)
  await context.output.write(describe(request, done))
}

function toRequest(
  words: readonly string[],
  { where }: AgenteLabelOptions,
): AdminRequest<'labelAgents'> {
  if (where !== undefined) {
    return { where: parseDecidingWhereOption(where), ...parseLabelWords(words) }
  }
  const [agente = '', ...labels] = words
  // A hostname has no =, and none ends in -.
  if (/=|-$/.test(agente)) {
    throw new UserError('usage', 'name the agent first, or the agents with --where', {
      hint: 'svc agent label web-1.example.org env=prod',
    })
  }
  if (labels.length > 0) return { agente, ...parseLabelWords(labels) }
  throw new UserError('usage', `name the labels of ${agente}`, {
    hint: 'key=value gives a label, key- takes it away',
  })
}

function describe(
  { agente, where }: AdminRequest<'labelAgents'>,
  { agentes, changed }: AdminReplies['labelAgents'],
): string {
  if (where === undefined) {
    return `agent ${agente} ${changed === 1 ? 'labelled' : 'had these labels already'}\n`
  }
  if (agentes > 0) return `${changed} of ${agentes} agents labelled\n`
  throw new UserError('no_recipient', `no agent matches ${where}`, {
    hint: 'svc agent list --wide shows the labels of agents',
  })
}
