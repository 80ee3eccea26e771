// `svc freeze`: a time in which no rollout goes on.

import { type Command } from 'commander'
import { parseDurationMs } from '../../platform/durations.ts'
import { UserError } from '../../platform/errors.ts'
import type { AdminFreeze } from '../../protocol/admin/rollouts.ts'
import { renderFields } from '../terminal/table.ts'
import type { CommandContext } from './command-context.ts'
import { addDryRunOptions } from './dry-run.ts'

interface FreezeOptions {
  readonly until?: string
  readonly why?: string
  readonly json?: true
}

export function registerFreeze(program: Command, context: CommandContext): void {
  const freeze = program
    .command('freeze')
    .description('a time in which no rollout goes on; renewals go on')
    .addHelpText(
      'after',
      `
No wave opens, and no further host of an open wave is given a version, until the freeze ends. Renewals of certificates, retries, and
updates without --waves go on: a freeze lets nothing expire. svc rollout undo works during a freeze.

Examples:
  svc freeze set --until 2026-12-01T08:00:00Z --why 'Black Friday'
  svc freeze show
  svc freeze end
`,
    )
  freeze
    .command('set', { isDefault: true })
    .description('hold all rollouts back until then')
    .requiredOption('--until <time>', 'a time such as 2026-12-01T08:00:00Z, or a duration: 12h')
    .requiredOption('--why <reason>', 'what svc, the alert and the log say of it')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The word set may be left out. A freeze takes the place of the one that holds.

Examples:
  svc freeze --until 2026-12-01T08:00:00Z --why 'Black Friday'
  svc freeze set --until 12h --why 'incident 4711' --json
`,
    )
    .action((options: FreezeOptions) => set(context, options))
  freeze
    .command('show')
    .description('show the freeze that holds')
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nExamples:\n  svc freeze show\n  svc freeze show --json\n')
    .action((options: FreezeOptions) => show(context, options))
  freeze
    .command('end')
    .description('end the freeze that holds')
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nExamples:\n  svc freeze end\n  svc freeze end --dry-run\n')
    .action((options: FreezeOptions) => end(context, options))
  addDryRunOptions(freeze)
}

async function set(
  context: CommandContext,
  { until = '', why = '', json }: FreezeOptions,
): Promise<void> {
  const durationMs = parseDurationMs(until)
  const time =
    durationMs === undefined
      ? until
      : new Date(context.clock.now().getTime() + durationMs).toISOString()
  if (why.trim() === '') {
    throw new UserError('usage', '--why: say why, so that others know whether it still holds')
  }
  const made = await context.withAdmin(({ operations }) =>
    operations.setFreeze({ until: time, why }),
  )
  if (json) return context.output.writeJson(made)
  await context.output.write(`no rollout goes on until ${made.until}: ${made.why}\n`)
}

async function show({ withAdmin, output }: CommandContext, { json }: FreezeOptions): Promise<void> {
  const shown = await withAdmin(({ operations }) => operations.showFreeze({}))
  if (json) return output.writeJson(shown)
  const { freeze, rollouts } = shown
  if (freeze === null) return output.write('no freeze holds\n')
  await output.write(renderFields(output.language, { ...describe(freeze), rollouts }))
}

async function end({ withAdmin, output }: CommandContext, { json }: FreezeOptions): Promise<void> {
  const ended = await withAdmin(({ operations }) => operations.endFreeze({}))
  if (json) return output.writeJson(ended)
  await output.write(`the freeze is over: ${ended.why}\n`)
}

function describe({ until, why, set_by, set_at }: AdminFreeze) {
  return { until, why, set_by, set_at }
}
