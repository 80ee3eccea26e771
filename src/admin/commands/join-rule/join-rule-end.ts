import type { Command } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import type { AdminJoinRule } from '../../../protocol/admin/join-rules.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { CommandContext } from '../command-context.ts'
import { type DryRunOptions, Rehearsed } from '../dry-run.ts'
import { runOnHosts } from '../hosts/run-on-hosts.ts'
import { readJoinedHosts } from './join-rule-show.ts'

interface JoinRuleEndOptions extends DryRunOptions {
  readonly revokeHosts?: true
  readonly yes?: true
}

interface LiveHost {
  readonly name: string
  readonly agente: string
}

export function registerJoinRuleEnd(joinRule: Command, context: CommandContext): void {
  joinRule
    .command('end')
    .description('end a join rule: no more hosts join by it, and its token works no more')
    .argument('<rule>', 'its name or id')
    .option('--revoke-hosts', 'also revoke each host that joined by it')
    .option('--yes', 'with --revoke-hosts: revoke all of them')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The hosts that joined keep their identities, unless --revoke-hosts revokes them: each as svc agent revoke does, after the rule has
ended, so that none joins meanwhile. A host that another token enrolled again is left alone.

Examples:
  svc join-rule end web-images
  svc join-rule end web-images --revoke-hosts --dry-run
  svc join-rule end web-images --revoke-hosts --yes
`,
    )
    .action((name: string, options: JoinRuleEndOptions) => end(context, name, options))
}

async function end(
  context: CommandContext,
  name: string,
  options: JoinRuleEndOptions,
): Promise<void> {
  await context.withAdmin(async ({ operations }) => {
    if (options.revokeHosts) return endAndRevoke(context, operations, name, options)
    const ended = await operations.endJoinRule({ join_rule: name })
    if (options.json) return context.output.writeJson(ended)
    await context.output.write(describe(ended))
  })
}

async function endAndRevoke(
  context: CommandContext,
  operations: AdminOperations,
  name: string,
  options: JoinRuleEndOptions,
): Promise<void> {
  const { id } = await operations.showJoinRule({ join_rule: name })
  const { length: count } = await findLive(operations, id)
  if (count > 0 && !options.yes && !options.dryRun) throw unconfirmed(count)
  const rehearsed: Rehearsed[] = []
  const noteRehearsal = (error: unknown): void => {
    if (!(error instanceof Rehearsed)) throw error
    rehearsed.push(error)
  }
  const ended = await operations.endJoinRule({ join_rule: id }).catch(noteRehearsal)
  if (ended !== undefined && !options.json) await context.output.write(describe(ended))
  // After the end: each host that joined until then is among them.
  const hosts = await findLive(operations, id)
  const isAllRehearsed = rehearsed.length > 0 && hosts.length === 0
  if (!isAllRehearsed) await revoke(context, operations, hosts, options).catch(noteRehearsal)
  if (rehearsed.length > 0) throw joinRehearsals(rehearsed)
}

function describe({ id, name, state }: AdminJoinRule): string {
  return `join rule ${name} (${id}) is ${state}\n`
}

function revoke(
  context: CommandContext,
  { revokeAgent }: AdminOperations,
  hosts: readonly LiveHost[],
  options: JoinRuleEndOptions,
): Promise<void> {
  return runOnHosts(context, {
    hosts,
    act: async ({ agente }) => {
      const { id, revoked_at, tokens_ended } = await revokeAgent({ agente })
      return { id, revoked_at, tokens_ended }
    },
    describe: ({ revoked_at }) => `revoked ${revoked_at}`,
    again: 'run the command again: it leaves revoked agents as they are',
    isJson: options.json === true,
    isRehearsal: options.dryRun === true,
  })
}

async function findLive(operations: AdminOperations, rule: string): Promise<readonly LiveHost[]> {
  const live: LiveHost[] = []
  for await (const page of readJoinedHosts(operations, rule)) {
    for (const { hostname, agente_id, revoked_at } of page) {
      if (agente_id !== null && revoked_at === null) {
        live.push({ name: hostname, agente: agente_id })
      }
    }
  }
  return live
}

function joinRehearsals(rehearsed: readonly Rehearsed[]): Rehearsed {
  return new Rehearsed({
    dry_run: true,
    acts: rehearsed.flatMap(({ answer }) => answer.acts),
    agentes: rehearsed.reduce((sum, { answer }) => sum + answer.agentes, 0),
  })
}

function unconfirmed(count: number): UserError {
  const hosts = count === 1 ? 'the one host' : `all ${count} hosts`
  return new UserError(
    'unconfirmed',
    `this revokes ${hosts} that joined by the rule, and nothing takes that back`,
    { hint: 'repeat the command with --yes if you mean it; --dry-run shows each of them' },
  )
}
