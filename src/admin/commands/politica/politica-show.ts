import type { Command } from 'commander'
import type { AdminReplies } from '../../../protocol/admin/operations.ts'
import type { Language } from '../../../protocol/spoken-words.ts'
import type { CommandContext } from '../command-context.ts'
import { choosePolicy, NAME_FLAG } from './choose-policy.ts'
import { renderAffected, renderPolicy, renderSelectorPolicy } from './render-policy.ts'

interface PoliticaShowOptions {
  readonly nome?: string
  readonly json?: true
}

export function registerPoliticaShow(politica: Command, context: CommandContext): void {
  politica
    .command('show')
    .description('show one policy, its agents and what it forbids')
    .argument('[role]', "the role, or '*'")
    .option(NAME_FLAG, 'the policy with a selector that has this name')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Examples:
  svc policy show web
  svc policy show '*' --json
  svc policy show --name prod
`,
    )
    .action((role: string | undefined, options: PoliticaShowOptions) => {
      const chosen = choosePolicy(role, options.nome)
      return 'role' in chosen
        ? showPolicy(context, chosen.role, options)
        : showSelectorPolicy(context, chosen.nome, options)
    })
}

async function showPolicy(
  { withAdmin, output }: CommandContext,
  role: string,
  { json }: PoliticaShowOptions,
): Promise<void> {
  const shown = await withAdmin(({ operations }) => operations.showPolicy({ role }))
  if (json) return output.writeJson(shown)
  await output.write(renderPolicy(output.language, shown) + renderEffect(output.language, shown))
}

async function showSelectorPolicy(
  { withAdmin, output }: CommandContext,
  nome: string,
  { json }: PoliticaShowOptions,
): Promise<void> {
  const shown = await withAdmin(({ operations }) => operations.showSelectorPolicy({ nome }))
  if (json) return output.writeJson(shown)
  const fields = renderSelectorPolicy(output.language, shown)
  await output.write(fields + renderEffect(output.language, shown))
}

type Shown = Pick<AdminReplies['showPolicy'], 'agentes' | 'cargas_afetadas'>

function renderEffect(language: Language, { agentes, cargas_afetadas: affected }: Shown): string {
  const { length } = agentes
  const count = `\nholds for ${length} ${length === 1 ? 'agent' : 'agents'}\n`
  return count + renderAffected(language, affected)
}
