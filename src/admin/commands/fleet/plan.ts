import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import {
  addFleetOptions,
  FLEET_HELP,
  type FleetOptions,
  readAskedFleet,
  styleOf,
} from './fleet-options.ts'

/** Of a plan that is not empty. docs/protocol.md DCL-15. */
export const DIFFERENT = 2

export function registerPlan(program: Command, context: CommandContext): void {
  const command = program
    .command('plan')
    .description('show what is different between a fleet and the files that declare it')
  addFleetOptions(command)
    .addHelpText(
      'after',
      `${FLEET_HELP}
The hub makes the plan, and nothing changes. The exit status is 0 when there is nothing to do, 2 when there is a difference, 1 when
the plan cannot be made.

Examples:
  svc plan -f fleet/
  svc plan -f fleet/ --prune
  svc plan -f policies.toml -f join-rules.yaml --manager web-team --json
`,
    )
    .action((options: FleetOptions) => plan(context, options))
}

async function plan(context: CommandContext, options: FleetOptions): Promise<void> {
  const { request, filesSha256 } = await readAskedFleet(options)
  const { hasDifference, renderPlan } = await import('../../declared/render-plan.ts')
  const planned = await context.withAdmin(({ operations }) => operations.planFleet(request))
  const isDifferent = hasDifference(planned)
  if (options.json) {
    await context.output.writeJson({
      ...planned,
      files_sha256: filesSha256,
      has_difference: isDifferent,
    })
  } else {
    await context.output.write(renderPlan(planned, styleOf(context, request)))
  }
  if (isDifferent) context.exitWith?.(DIFFERENT)
}
