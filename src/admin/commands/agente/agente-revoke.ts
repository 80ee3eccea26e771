import type { Command } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import type { AdminOperations, AdminReplies } from '../../../protocol/admin/operations.ts'
import type { CommandContext } from '../command-context.ts'
import type { DryRunOptions } from '../dry-run.ts'
import { runOnHosts } from '../hosts/run-on-hosts.ts'
import {
  addAgentSelection,
  type AgentSelectionOptions,
  type SelectedAgent,
  SELECTION_HELP,
  selectAgents,
} from '../hosts/select-agents.ts'

interface AgenteRevokeOptions extends AgentSelectionOptions, DryRunOptions {
  readonly yes?: true
}

type Revoked = AdminReplies['revokeAgent']

export function registerAgenteRevoke(agente: Command, context: CommandContext): void {
  addAgentSelection(
    agente
      .command('revoke')
      .description('revoke agents: the hub refuses them and all their certificates from now on'),
  )
    .option('--yes', 'revoke each agent that --role, --where or --all names')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
A running hub also revokes its certificates at the CA, in the background: svc agent revocations
shows the certificates that are left, and revoking once more asks again for those that the CA refused.
Open tokens for its hostname end too. A revoked host comes back only by a token that you make
afterwards: svc token create --reenroll. Revoking once more ends that token too.
${SELECTION_HELP}With --file an agent that is revoked already stays as it is.

Examples:
  svc agent revoke web-1.example.org
  svc agent revoke --file stolen.txt
  svc agent revoke --role kiosk --yes
`,
    )
    .action((name: string | undefined, options: AgenteRevokeOptions) =>
      revoke(context, name, options),
    )
}

async function revoke(
  context: CommandContext,
  name: string | undefined,
  options: AgenteRevokeOptions,
): Promise<void> {
  const findAgents = await selectAgents(context, name, options)
  await context.withAdmin(async ({ operations }) => {
    if (findAgents !== undefined) {
      const hosts = await findAgents(operations)
      if (options.file === undefined && !options.dryRun && !options.yes) throw unconfirmed(hosts)
      return runOnHosts(context, {
        hosts,
        act: ({ agente }) => revokeOnce(operations, agente),
        describe: ({ wasRevoked, revoked_at }) =>
          `${wasRevoked ? 'was revoked' : 'revoked'} ${revoked_at}`,
        again: 'run the command again: it leaves revoked agents as they are',
        isJson: options.json === true,
        isRehearsal: options.dryRun === true,
      })
    }
    const revoked = await operations.revokeAgent({ agente: name ?? '' })
    if (options.json) return context.output.writeJson(revoked)
    await context.output.write(describeRevoked(revoked))
  })
}

/** Revoking once more would end a token that lets the host come back. */
async function revokeOnce(
  { showAgent, revokeAgent }: AdminOperations,
  agente: string,
): Promise<Pick<Revoked, 'id' | 'revoked_at' | 'tokens_ended'> & { wasRevoked: boolean }> {
  const { id, revoked_at } = await showAgent({ agente })
  if (revoked_at !== null) return { id, revoked_at, tokens_ended: 0, wasRevoked: true }
  const revoked = await revokeAgent({ agente: id })
  const { tokens_ended } = revoked
  return { id, revoked_at: revoked.revoked_at, tokens_ended, wasRevoked: false }
}

function unconfirmed(hosts: readonly SelectedAgent[]): UserError {
  const [only] = hosts
  const count = hosts.length === 1 ? `the agent ${only?.name}` : `${hosts.length} agents`
  return new UserError('unconfirmed', `this revokes ${count}, and nothing takes that back`, {
    hint: 'repeat the command with --yes if you mean it; --dry-run shows each of them',
  })
}

function describeRevoked({ id, hostname, revoked_at, tokens_ended: ended }: Revoked): string {
  const tokens = ended > 0 ? `, ${ended} open ${ended === 1 ? 'token' : 'tokens'} for it ended` : ''
  return `agent ${hostname} (${id}) revoked at ${revoked_at}${tokens}\n`
}
