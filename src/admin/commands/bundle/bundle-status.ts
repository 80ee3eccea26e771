import type { Command } from 'commander'
import type { AdminBundle } from '../../../protocol/admin/views.ts'
import type { Language } from '../../../protocol/spoken-words.ts'
import type { CommandContext } from '../command-context.ts'
import { renderFields, renderRows, stateWord, yesOrNo } from '../../terminal/table.ts'

export function registerBundleStatus(bundle: Command, context: CommandContext): void {
  bundle
    .command('status')
    .description('show the roots in force, and which agents have not adopted them')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
An agent is pending until it has said that it trusts exactly these roots; an agent before 0.4.0 never says so. The
column CERTS counts the identities and delivered certificates in use that lead to a root.

Examples:
  svc bundle status
  svc bundle status --json
`,
    )
    .action(async (options: { json?: true }) => {
      const shown = await context.withAdmin(({ operations }) => operations.showBundle({}))
      if (options.json) return context.output.writeJson(shown)
      await context.output.write(renderBundle(context.output.language, shown))
    })
}

export function renderBundle(language: Language, bundle: AdminBundle): string {
  const { numero, epoca, created_at, agentes, pendentes, certificados_unknown: unknown } = bundle
  const fields = renderFields(language, {
    numero,
    ...(epoca > 1 ? { epoca } : {}),
    created_at,
    ...(bundle.trust_key === undefined ? {} : { trust_key: bundle.trust_key }),
    'agentes pendentes': `${pendentes.length} of ${agentes}`,
    ...(unknown === 0 ? {} : { 'certificados unknown': unknown }),
    ...(bundle.file_differs === true
      ? { 'root file': 'holds other roots: svc bundle update puts them in force' }
      : {}),
  })
  const roots = renderRows(
    language,
    {
      root: (root) => root.fingerprint,
      not_after: (root) => root.not_after,
      state: (root) => stateWord(root.is_valid ? 'valid' : 'not valid'),
      hub: (root) => (root.is_hubs_own ? stateWord('own') : null),
      certificados: (root) => root.certificados,
      subject: (root) => root.subject,
    },
    bundle.roots,
  )
  const pending = renderRows(
    language,
    {
      pendentes: (agent) => agent.hostname,
      numero: (agent) => agent.numero,
      is_pinned: (agent) => yesOrNo(agent.is_pinned),
      reported_at: (agent) => agent.reported_at,
      erro: (agent) => agent.erro,
    },
    pendentes,
  )
  return `${fields}\n${roots}${pendentes.length === 0 ? '' : `\n${pending}`}`
}
