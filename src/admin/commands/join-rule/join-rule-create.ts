import type { Command } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import {
  JOIN_HOSTS_MAX,
  JOIN_TTL_MAX_SECONDS,
  JOIN_TTL_MIN_SECONDS,
  SILENT_MAX_SECONDS,
  SILENT_MIN_SECONDS,
} from '../../../protocol/admin/join-rules.ts'
import { collectLabel } from '../hosts/label-option.ts'
import { renderFields } from '../../terminal/table.ts'
import type { CommandContext } from '../command-context.ts'
import { parseTtlSeconds } from '../parse-ttl.ts'
import { describeJoinRule } from './describe-join-rule.ts'
import {
  addMethodOptions,
  type MethodOptions,
  METHODS_EXAMPLES,
  METHODS_HELP,
  readMethod,
} from './methods/join-methods.ts'

interface JoinRuleCreateOptions extends MethodOptions {
  readonly pattern: string
  readonly role: string
  readonly maxHosts: string
  readonly label: Readonly<Record<string, string>>
  readonly ttl?: string
  readonly revokeAfter?: string
  readonly json?: true
}

const TTL = {
  minSeconds: JOIN_TTL_MIN_SECONDS,
  minText: '1h',
  maxSeconds: JOIN_TTL_MAX_SECONDS,
  maxText: '90d',
  hint: 'leave it out for 7d; svc join-rule list shows when the next rule is due',
}
const REVOKE_AFTER = {
  option: '--revoke-after',
  minSeconds: SILENT_MIN_SECONDS,
  minText: '1h',
  maxSeconds: SILENT_MAX_SECONDS,
  maxText: '365d',
  hint: 'leave it out, and the hub revokes no host for its silence',
}

export function registerJoinRuleCreate(joinRule: Command, context: CommandContext): void {
  const create = joinRule
    .command('create')
    .description('let hosts of a pattern of names enrol by themselves')
    .argument('<name>', 'how the audit log and the other commands name the rule')
    .requiredOption(
      '--pattern <pattern>',
      'the names of the hosts: * stands for letters, digits and - within one label',
    )
    .requiredOption('--role <role>', 'the role that they enrol with')
    .requiredOption('--max-hosts <count>', `how many may join, at most ${JOIN_HOSTS_MAX}`)
    .option(
      '--label <key=value>',
      'a label that each of the hosts gets when it enrols; repeatable',
      collectLabel,
      {},
    )
  addMethodOptions(create)
    .option('--ttl <duration>', 'how long it works, 1h to 90d; 7d unless the policy says less')
    .option('--revoke-after <duration>', 'revoke a host that joined and was silent for so long')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
By itself svc prints a token that works many times, for images and groups that grow by themselves: each host uses it once, under its own name. It never enrols a host
again, and never one whose name is taken. Anybody with the token can enrol hosts that match the pattern until the rule is full,
expired or ended: svc join-rule list shows how many joined, and the log names each. A host keeps its identity when the rule ends.

With --revoke-after the hub revokes a host when it heard nothing of the host for that long and heard other hosts all the while.
A pattern has at most two *, and ends in a domain without one. Quote it, or the shell may replace it.

${METHODS_HELP}

svc prints a token only this time; the vault keeps only its SHA-256. With an admin token of role operator a rule lives 7d at
most; a policy's --token-ttl-max for the role holds for rules too.

Examples:
  svc join-rule create web-images --pattern 'web-*.example.org' --role web --max-hosts 40
  svc join-rule create spot --pattern '*.spot.example.org' --role worker --max-hosts 500 --label env=prod --revoke-after 48h
${METHODS_EXAMPLES}
  svc join-rule create ci --pattern 'ci-*-eu.example.org' --role ci --max-hosts 8 --ttl 1d --json
`,
    )
    .action((name: string, options: JoinRuleCreateOptions) => createRule(context, name, options))
}

async function createRule(
  context: CommandContext,
  name: string,
  options: JoinRuleCreateOptions,
): Promise<void> {
  const { pattern, role, maxHosts, label: labels, ttl, revokeAfter, json } = options
  const request = {
    name,
    ...(await readMethod(context, options)),
    pattern,
    role,
    hosts_max: parseHostsMax(maxHosts),
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(ttl !== undefined && { ttl_seconds: parseTtlSeconds(ttl, TTL) }),
    ...(revokeAfter !== undefined && {
      silent_seconds: parseTtlSeconds(revokeAfter, REVOKE_AFTER),
    }),
  } as const
  const created = await context.withAdmin(({ operations }) => operations.createJoinRule(request))
  if (json) return context.output.writeJson(created)
  const { token, agent_command, note, ...rule } = created
  const fields = renderFields(context.output.language, {
    ...(token !== undefined && { token }),
    ...describeJoinRule(rule),
  })
  const advice = note === undefined ? '' : `\nNote: ${note}\n`
  await context.output.write(`${fields}\nOn each host:\n\n${agent_command}\n${advice}`)
}

function parseHostsMax(text: string): number {
  const count = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (count >= 1 && count <= JOIN_HOSTS_MAX) return count
  throw new UserError(
    'max_hosts_invalid',
    `--max-hosts: ${text} is not a number from 1 to ${JOIN_HOSTS_MAX}`,
    { hint: 'make several rules for more hosts' },
  )
}
