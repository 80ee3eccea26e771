import type { Command } from 'commander'
import type { AdminRolloutDetails } from '../../../protocol/admin/rollouts.ts'
import { type Columns, renderFields, renderRows, stateWord } from '../../terminal/table.ts'
import type { CommandContext } from '../command-context.ts'
import { firstLineOf } from '../entrega/entrega-list.ts'
import { describeRollout } from './describe-rollout.ts'

const WAVE_COLUMNS: Columns<AdminRolloutDetails['by_wave'][number]> = {
  wave: ({ wave }) => wave,
  pending: ({ pending }) => pending,
  unprobed: ({ unprobed }) => unprobed,
  done: ({ done }) => done,
  failed: ({ failed }) => failed,
}
const UPDATE_COLUMNS: typeof WAVE_COLUMNS = {
  ...WAVE_COLUMNS,
  declined: ({ declined }) => declined,
}
const FAILURE_COLUMNS: Columns<AdminRolloutDetails['failures'][number]> = {
  hostname: ({ hostname }) => hostname,
  status: ({ status }) => stateWord(status),
  erro: ({ erro }) => firstLineOf(erro),
}

export function registerRolloutShow(rollout: Command, context: CommandContext): void {
  rollout
    .command('show')
    .description('show how far a rollout is, what it waits for, and which hosts failed')
    .argument('<rollout>', 'its id, the load whose rollout is open, or rotation, roots or update')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
A host is done when it has installed the version and each of its targets has reported that it is in place and, where the target
has a probe, served. Agents of version 0.4.0 and before do not say which targets they have: they are done when they have installed it.
In a rotation a host is done when the hub has seen it use another identity, with roots when it has said that it trusts the set, and in an update when it has said that it runs
the version and that the version has proved itself. Below the waves are hosts that refused it or failed, hosts that are waited for, and hosts
that declined an update: they do not follow announcements, or have a newer version, and nobody waits for them.

Examples:
  svc rollout show site
  svc rollout show rotation
  svc rollout show 1c8d3b5a7e9f0246 --json
`,
    )
    .action((name: string, options: { json?: true }) => show(context, name, options.json === true))
}

async function show(context: CommandContext, name: string, isJson: boolean): Promise<void> {
  const { output } = context
  const shown = await context.withAdmin(({ operations }) =>
    operations.showRollout({ rollout: name }),
  )
  if (isJson) return output.writeJson(shown)
  const fields = renderFields(output.language, {
    ...describeRollout(shown),
    waits_for: shown.waits_for,
    failures_allowed: shown.hosts.failures_allowed,
  })
  const columns = shown.kind === 'update' ? UPDATE_COLUMNS : WAVE_COLUMNS
  const waves =
    shown.by_wave.length === 0 ? '' : `\n${renderRows(output.language, columns, shown.by_wave)}`
  const failures =
    shown.failures.length === 0
      ? ''
      : `\n${renderRows(output.language, FAILURE_COLUMNS, shown.failures)}`
  await output.write(`${fields}${waves}${failures}`)
}
