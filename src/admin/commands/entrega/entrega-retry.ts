import type { Command } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import { awaitChange } from '../await-change.ts'
import type { CommandContext } from '../command-context.ts'
import { deliveryArgument } from '../named-arguments.ts'
import { renderDeliveries } from './entrega-list.ts'

interface EntregaRetryOptions {
  readonly all?: true
  readonly json?: true
}

export function registerEntregaRetry(entrega: Command, context: CommandContext): void {
  entrega
    .command('retry')
    .description('replace one delivery, or every failed one, by a new delivery')
    .addArgument(deliveryArgument('optional'))
    .option('--all', 'every failed one')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
The new delivery has an id of its own; the list shows it.

Examples:
  svc delivery retry --all
  svc delivery retry web-1.example.org/site
`,
    )
    .action((id: string | undefined, options: EntregaRetryOptions) =>
      retryDeliveries(context, id, options),
    )
}

async function retryDeliveries(
  context: CommandContext,
  id: string | undefined,
  options: EntregaRetryOptions,
): Promise<void> {
  if ((id === undefined) === (options.all === undefined)) {
    throw new UserError('usage', 'name one delivery, or use --all for all failed ones', {
      hint: 'svc delivery list --status failed shows them',
    })
  }
  const request = id === undefined ? {} : { entrega: id }
  const retried = await context.withAdmin(({ operations }) =>
    awaitChange(context, operations, operations.retryDeliveries(request)),
  )
  if (options.json) return context.output.writeJson(retried)
  await context.output.write(renderDeliveries(context.output.language, retried.entregas))
}
