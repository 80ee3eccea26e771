import type { Command } from 'commander'
import { SvcError, UserError } from '../../../platform/errors.ts'
import type { AdminFleetPlan } from '../../../protocol/admin/declared.ts'
import type { AdminReplies } from '../../../protocol/admin/operations.ts'
import type { CommandContext } from '../command-context.ts'
import { openTokenFile, refuseExposedOutput, type TokenFile } from '../token/token-file.ts'
import {
  addFleetOptions,
  type AskedFleet,
  FLEET_HELP,
  type FleetOptions,
  readAskedFleet,
  styleOf,
} from './fleet-options.ts'
import { DIFFERENT } from './plan.ts'

interface ApplyOptions extends FleetOptions {
  readonly yes?: true
  readonly untested?: true
  readonly out?: string
  readonly dryRun?: true
}

type Applied = AdminReplies['applyFleet']

export function registerApply(program: Command, context: CommandContext): void {
  const command = program
    .command('apply')
    .description('make a fleet as files declare it, all or nothing')
  addFleetOptions(command)
    .option('--yes', 'do not ask')
    .option('--untested', 'set each cert_ttl without a trial at the CA')
    .option('--out <file>', 'write new join tokens and webhook secrets there, with mode 0600')
    .option('--dry-run', 'show what the audit log would say, and change nothing')
    .addHelpText(
      'after',
      `${FLEET_HELP}
svc shows the plan, asks, and has the hub do exactly that: when somebody else changed the fleet meanwhile, nothing is done. One entry
of the log says what was done, with the SHA-256 of the files. What apply cannot do itself it names, and then exits 2: a sealed
file is sealed by svc load update, an admin token made by svc admin token create.

The token of a new join rule and the secret of a new webhook are shown only this time.

Examples:
  svc apply -f fleet/
  svc apply -f fleet/ --prune --yes --out new-secrets.txt
  svc apply -f fleet/ --dry-run
`,
    )
    .action((options: ApplyOptions) => apply(context, options))
}

async function apply(context: CommandContext, options: ApplyOptions): Promise<void> {
  const asked = await readAskedFleet(options)
  const out = options.out === undefined ? undefined : await openTokenFile(options.out)
  try {
    await context.withAdmin(async ({ operations }) => {
      // The rehearsal plans by itself, and ends the command.
      if (options.dryRun) {
        await operations.applyFleet({ ...asked.request, files_sha256: asked.filesSha256 })
      }
      const plan = await operations.planFleet(asked.request)
      const applied = await applyPlan(context, options, asked, plan, out, (request) =>
        operations.applyFleet(request),
      )
      if (applied === undefined) return
      if (options.json) {
        const { join_tokens, webhook_secrets, ...done } = applied
        const secrets = out === undefined ? { join_tokens, webhook_secrets } : {}
        await context.output.writeJson({ ...done, files_sha256: asked.filesSha256, ...secrets })
      }
      if (plan.changes.some(({ action, fields }) => isLeft(action, fields))) {
        context.exitWith?.(DIFFERENT)
      }
    })
  } finally {
    await out?.close()
  }
}

/** What an operator has to do by hand. */
function isLeft(action: string, fields: AdminFleetPlan['changes'][number]['fields']): boolean {
  return action === 'todo' || fields.some(({ todo }) => todo !== null)
}

async function applyPlan(
  context: CommandContext,
  options: ApplyOptions,
  { request, filesSha256 }: AskedFleet,
  plan: AdminFleetPlan,
  out: TokenFile | undefined,
  applyFleet: (
    request: AskedFleet['request'] & { files_sha256: string; etag: string; untested?: true },
  ) => Promise<Applied>,
): Promise<Applied | undefined> {
  const { hasWork, renderPlan } = await import('../../declared/render-plan.ts')
  const { output } = context
  if (!options.json) await output.write(renderPlan(plan, styleOf(context, request)))
  const nothing: Applied = { ...plan, join_tokens: [], webhook_secrets: [] }
  if (!hasWork(plan)) return nothing
  refuseExposedSecrets(context, plan, out)
  if (!(await isConfirmed(context, options))) {
    context.note('nothing was done')
    context.exitWith?.(DIFFERENT)
    return undefined
  }
  const { untested } = options
  const exact = { ...request, files_sha256: filesSha256, etag: plan.etag }
  const applied = await applyFleet({ ...exact, ...(untested && { untested }) })
  await tellSecrets(context, options, applied, out)
  if (!options.json) await output.write('Done.\n')
  return applied
}

async function isConfirmed(
  { confirm }: Pick<CommandContext, 'confirm'>,
  { yes, json }: ApplyOptions,
): Promise<boolean> {
  if (yes) return true
  if (confirm !== undefined && json !== true) return confirm('Apply this plan? Only yes does it:')
  throw new UserError('unconfirmed', 'the plan is not applied: there is nobody to ask', {
    hint: 'repeat the command with --yes if you mean it; svc plan shows the same plan',
  })
}

/** Before they are made: afterwards nobody could show them again. */
function refuseExposedSecrets(
  { output }: CommandContext,
  { changes }: AdminFleetPlan,
  out: TokenFile | undefined,
): void {
  const isSecret = changes.some(
    ({ kind, action }) => action === 'create' && (kind === 'join_rule' || kind === 'webhook'),
  )
  if (isSecret && out === undefined && output.descriptor !== undefined) {
    refuseExposedOutput(output.descriptor)
  }
}

async function tellSecrets(
  { output }: CommandContext,
  { json, out: path }: ApplyOptions,
  { join_tokens, webhook_secrets }: Applied,
  out: TokenFile | undefined,
): Promise<void> {
  if (out !== undefined) {
    try {
      for (const { name, token } of join_tokens) await out.add(name, token)
      for (const { url, secret } of webhook_secrets) await out.add(url, secret)
    } catch (error) {
      throw new SvcError('file_unwritable', `the plan is applied, and ${path} lacks its secrets`, {
        cause: error,
        hint: 'end the new join rules, remove the new webhooks, and apply again: their secrets are lost',
      })
    }
    const count = join_tokens.length + webhook_secrets.length
    if (count > 0 && !json) await output.write(`${count} new secrets are in ${path}.\n`)
    return
  }
  if (json) return
  for (const { name, agent_command, note } of join_tokens) {
    const advice = note === undefined ? '' : `\nNote: ${note}\n`
    await output.write(
      `\nThe token of join rule ${name}, shown only now. On each host:\n\n${agent_command}\n${advice}`,
    )
  }
  for (const { url, secret } of webhook_secrets) {
    await output.write(`\nThe secret of webhook ${url}, shown only now: ${secret}\n`)
  }
}
