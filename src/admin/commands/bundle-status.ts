import type { Command } from 'commander'
import type { AdminBundle } from '../../protocol/admin/views.ts'
import type { CommandContext } from './command-context.ts'
import { renderFields, renderRows } from '../terminal/table.ts'

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
      await context.output.write(renderBundle(shown))
    })
}

export function renderBundle(bundle: AdminBundle): string {
  const { numero, epoca, created_at, agentes, pendentes, certificados_unknown: unknown } = bundle
  const fields = renderFields({
    numero,
    ...(epoca > 1 ? { epoca } : {}),
    created_at,
    'agents pending': `${pendentes.length} of ${agentes}`,
    ...(unknown === 0 ? {} : { 'certificates of an unknown root': unknown }),
    ...(bundle.file_differs === true
      ? { 'root file': 'holds other roots: svc bundle update puts them in force' }
      : {}),
  })
  const roots = renderRows(
    {
      ROOT: (root) => root.fingerprint,
      NOT_AFTER: (root) => root.not_after,
      STATE: (root) => (root.is_valid ? 'valid' : 'not valid'),
      HUB: (root) => (root.is_hubs_own ? 'own' : null),
      CERTS: (root) => root.certificados,
      SUBJECT: (root) => root.subject,
    },
    bundle.roots,
  )
  const pending = renderRows(
    {
      PENDING: (agent) => agent.hostname,
      NUMERO: (agent) => agent.numero,
      PINNED: (agent) => (agent.is_pinned ? 'yes' : 'no'),
      REPORTED_AT: (agent) => agent.reported_at,
      ERRO: (agent) => agent.erro,
    },
    pendentes,
  )
  return `${fields}\n${roots}${pendentes.length === 0 ? '' : `\n${pending}`}`
}
