import type { Command } from 'commander'
import { printable } from '../../../platform/printable.ts'
import type { CommandContext } from '../command-context.ts'
import { choosePolicy, NAME_FLAG } from './choose-policy.ts'
import { renderAffected } from './render-policy.ts'

interface PoliticaRemoveOptions {
  readonly nome?: string
  readonly json?: true
}

export function registerPoliticaRemove(politica: Command, context: CommandContext): void {
  politica
    .command('remove')
    .description('end a policy')
    .argument('[role]', "the role, or '*'")
    .option(NAME_FLAG, 'the policy with a selector that has this name')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Afterwards the policy of '*' applies to the agents of the role, or no policy; a policy with a selector narrows nothing any
more. The agents keep what they have: their certificates live to their end, and the hub cancels no delivery.

Examples:
  svc policy remove web
  svc policy remove '*' --json
  svc policy remove --name prod
`,
    )
    .action((role: string | undefined, options: PoliticaRemoveOptions) => {
      const chosen = choosePolicy(role, options.nome)
      return 'role' in chosen
        ? removePolicy(context, chosen.role, options)
        : removeSelectorPolicy(context, chosen.nome, options)
    })
}

async function removePolicy(
  { withAdmin, output }: CommandContext,
  role: string,
  { json }: PoliticaRemoveOptions,
): Promise<void> {
  const removed = await withAdmin(({ operations }) => operations.removePolicy({ role }))
  if (json) return output.writeJson(removed)
  const affected = renderAffected(output.language, removed.cargas_afetadas)
  await output.write(`policy of role ${printable(removed.role)} removed\n${affected}`)
}

async function removeSelectorPolicy(
  { withAdmin, output }: CommandContext,
  nome: string,
  { json }: PoliticaRemoveOptions,
): Promise<void> {
  const removed = await withAdmin(({ operations }) => operations.removeSelectorPolicy({ nome }))
  if (json) return output.writeJson(removed)
  await output.write(`policy ${printable(removed.nome)} removed\n`)
}
