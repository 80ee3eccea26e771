import type { Command } from 'commander'
import type { AdminCertificate } from '../../../protocol/admin/certificados.ts'
import type { Language } from '../../../protocol/spoken-words.ts'
import type { AdminReplies } from '../../../protocol/admin/operations.ts'
import type { CommandContext } from '../command-context.ts'
import { showLabels } from '../hosts/label-option.ts'
import { renderDeliveries, renderRevertedTargets } from '../entrega/entrega-list.ts'
import { shortTime } from '../short-time.ts'
import {
  type Cell,
  type Columns,
  renderFields,
  renderRows,
  stateWord,
  yesOrNo,
} from '../../terminal/table.ts'

export function registerAgenteShow(agente: Command, context: CommandContext): void {
  agente
    .command('show')
    .description('show one agent and its deliveries')
    .argument('<agent>', 'hostname or id')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `
Below the deliveries stand the certificates in use, and what the hub refused to the agent last: of a running hub, of this hub
alone where several share a vault, and one line for requests of a kind that were refused on end.

Examples:
  svc agent show web-1.example.org
  svc agent show web-1.example.org --json
`,
    )
    .action(async (name: string, options: { json?: true }) => {
      const shown = await context.withAdmin(({ operations }) =>
        operations.showAgent({ agente: name, details: true }),
      )
      if (options.json) return context.output.writeJson(shown)
      await context.output.write(renderAgent(context.output.language, shown))
    })
}

function renderAgent(
  language: Language,
  { entregas, certificados = [], refusals, ...fields }: Sent,
): string {
  const tables = [
    entregas.length === 0 ? '' : renderDeliveries(language, entregas),
    certificados.length === 0 ? '' : renderRows(language, CERTIFICATE_COLUMNS, certificados),
    // Without a hub nobody knows what it refused.
    refusals?.length ? renderRows(language, REFUSAL_COLUMNS, refusals) : '',
  ].map((table) => (table === '' ? '' : `\n${table}`))
  const described = renderFields(language, describeAgent(fields))
  return `${described}${tables.join('')}${renderRevertedTargets(entregas)}`
}

type SentAgent = AdminReplies['showAgent']
type AgentRoots = NonNullable<SentAgent['roots']>
/** An earlier hub does not know all of a host. */
type NewField =
  | 'duplicado'
  | 'addresses'
  | 'labels'
  | 'politicas'
  | 'certificados'
  | 'roots'
  | 'refusals'
type Sent = Omit<SentAgent, NewField> & Partial<Pick<SentAgent, NewField>>
type Fields = Omit<Sent, 'entregas' | 'certificados' | 'refusals'>

const CERTIFICATE_COLUMNS: Columns<AdminCertificate> = {
  purpose: ({ purpose }) => stateWord(purpose),
  nome: ({ nome }) => nome,
  state: ({ state }) => stateWord(state),
  not_after: ({ not_after: notAfter }) => shortTime(notAfter),
  serial: ({ serial }) => serial,
}

const REFUSAL_COLUMNS: Columns<NonNullable<SentAgent['refusals']>[number]> = {
  at: ({ at }) => shortTime(at),
  code: ({ code }) => code,
  operation: ({ operation }) => operation,
  nome: ({ nome }) => nome,
  times: ({ times }) => times,
  request_id: ({ request_id: id }) => id,
  reason: ({ reason }) => reason,
}

function describeAgent({ roots, ...fields }: Fields) {
  const { duplicado, addresses, labels, politicas } = fields
  return {
    ...fields,
    labels: showLabels(labels),
    atrasado: yesOrNo(fields.atrasado),
    duplicado: duplicado === undefined ? null : describeDoubled(duplicado),
    addresses: addresses?.join(', ') ?? null,
    politicas: politicas?.join(', ') ?? null,
    roots: roots === undefined || roots === null ? null : describeRoots(roots),
  }
}

function describeRoots({ numero, since, is_current: isCurrent }: AgentRoots): string {
  return `set ${numero ?? '-'} since ${since}${isCurrent ? '' : ', which is not the one in force'}`
}

function describeDoubled(doubled: SentAgent['duplicado']): Cell {
  if (doubled === null) return yesOrNo(false)
  const { since, last_at: lastAt, addresses } = doubled
  return `used from two places since ${since}, last at ${lastAt}: ${addresses.join(', ')}`
}
