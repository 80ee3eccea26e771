import { Option } from 'commander'
import { UserError } from '../../../platform/errors.ts'
import { didYouMean } from '../../../platform/near-matches.ts'
import { printable } from '../../../platform/printable.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { AdminDelivery } from '../../../protocol/admin/views.ts'
import { flagOf, type Language, stateIn, toWireValue } from '../../../protocol/spoken-words.ts'
import { DeliveryStatus } from '../../../protocol/words.ts'
import { parseWhereOption, requireWhere, WHERE_FLAG } from '../hosts/where-option.ts'
import { listCommand, type ListOptions } from '../list-command.ts'
import type { PageRequest } from '../list-pages.ts'
import { shortTime } from '../short-time.ts'
import { type Columns, renderRows, stateWord } from '../../terminal/table.ts'

/** A hub up to 0.4.0 says neither what hosts have taken back nor why a delivery waits. */
type NewField = 'reverted_at' | 'alvos_revertidos' | 'waiting_reason' | 'waiting_reason_at'
export type SentDelivery = Omit<AdminDelivery, NewField> & Partial<Pick<AdminDelivery, NewField>>

const DELIVERY_COLUMNS: Columns<SentDelivery> = {
  hostname: (delivery) => delivery.hostname,
  nome: (delivery) => delivery.nome,
  tipo: (delivery) => stateWord(delivery.tipo),
  versao: (delivery) => delivery.versao,
  status: (delivery) => stateWord(stateOf(delivery)),
  updated_at: (delivery) => shortTime(delivery.updated_at),
  erro: ({ erro, waiting_reason: waiting }) => firstLineOf(erro ?? waiting ?? null),
}

const WIDE_COLUMNS: Columns<SentDelivery> = {
  carga_id: (delivery) => delivery.carga_id,
  id: (delivery) => delivery.id,
}

/** `revertida` is no status on the wire: the status says what was installed, this what became of it on the host. */
export function stateOf({ status, reverted_at: revertedAt }: SentDelivery): string {
  return revertedAt === null || revertedAt === undefined ? status : 'revertida'
}

/** Below it is what a command printed. */
export function firstLineOf(erro: string | null): string | null {
  return erro?.split('\n', 1)[0] ?? null
}

interface EntregaListOptions extends ListOptions {
  readonly all?: true
  readonly agente?: string
  readonly role?: string
  readonly where?: string
  readonly carga?: string
  readonly status: readonly DeliveryState[]
  readonly late?: true
  readonly sort?: (typeof SORTS)[number]
  readonly q?: string
}

const SORTS = ['host', 'created', 'updated'] as const
const STATES = [...Object.values(DeliveryStatus), 'revertida'] as const
type DeliveryState = (typeof STATES)[number]

const ABOUT = `\
Without --all the list has what is in force: no delivery that was cancelled, or that another has replaced or is to replace. The
filters all have to match; several --status match any. The rows come by hostname (host); with --load the oldest first (created);
with one --status, no --role and no --where what has it longest (updated). The hub refuses an order that no index of it has.

  svc delivery list --q web- --status failed`

export const registerEntregaList = listCommand({
  description: 'list the deliveries in force, by hostname',
  about: ABOUT,
  plural: 'entregas',
  ask: askForDeliveries,
  columns: DELIVERY_COLUMNS,
  wide: WIDE_COLUMNS,
  isLastProse: true,
  nameOf: ({ hostname, nome }) => `${hostname}/${nome}`,
  addOptions: (command) =>
    command
      .option('--all', 'also what was cancelled or replaced')
      .option(`${flagOf('agente')} <agent>`, 'only of this agent, by hostname or id')
      .option('--role <role>', 'only of agents of this role')
      .option(WHERE_FLAG, 'only of agents that it matches', parseWhereOption)
      .option(`${flagOf('carga')} <load>`, 'only of this load, by name or id')
      .addOption(
        new Option('--status <status>', 'only with this status; repeatable')
          .choices(STATES.map((state) => stateIn('en', state)))
          .argParser(collectStates)
          .default([]),
      )
      .option('--q <text>', 'only of agents with this in their hostname')
      .option('--late', 'only with a certificate that should have been renewed already')
      .addOption(new Option('--sort <order>', 'the order of the rows').choices(SORTS)),
})

function collectStates(text: string, earlier: readonly DeliveryState[]): DeliveryState[] {
  const value = toWireValue(text)
  const state = STATES.find((known) => known === value)
  if (state !== undefined) return [...earlier, state]
  const words = STATES.map((known) => stateIn('en', known))
  throw new UserError('status_invalid', `--status: ${text} is no status of a delivery`, {
    hint: didYouMean(text, words) ?? didYouMean(text, STATES) ?? `it is one of ${words.join(', ')}`,
  })
}

async function askForDeliveries(
  operations: AdminOperations,
  page: PageRequest,
  options: ListOptions,
): Promise<{ entregas: readonly SentDelivery[]; next?: string | null }> {
  const { all, agente, role, where, carga, status, late, sort, q } = options as EntregaListOptions
  const filters = {
    ...(agente !== undefined && { agente }),
    ...(role !== undefined && { role }),
    ...(await requireWhere(operations, where)),
    ...(carga !== undefined && { carga }),
    ...(status.length > 0 && { status: [...status] }),
    ...(late && { late }),
    ...(sort !== undefined && { sort }),
    ...(q !== undefined && { q }),
  }
  try {
    return await operations.findDeliveries({ ...page, ...filters, ...(all && { all }) })
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== 'route_not_found') throw error
    if (Object.keys(filters).length > 0) {
      throw new UserError(
        'hub_too_old',
        'this hub is older than this svc: it lists all deliveries alike',
        {
          hint: 'upgrade the hub, or list without filters',
        },
      )
    }
    const { entregas, next } = await operations.listDeliveries(page)
    return {
      entregas: all ? entregas : entregas.filter(({ status: state }) => !isOver(state)),
      next,
    }
  }
}

/** A hub up to 0.4.0 does not say what is yet to be replaced. */
function isOver(status: string): boolean {
  return status === DeliveryStatus.cancelled || status === DeliveryStatus.replaced
}

export function renderDeliveries(language: Language, deliveries: readonly SentDelivery[]): string {
  return renderRows(language, { ...DELIVERY_COLUMNS, id: ({ id }) => id }, deliveries)
}

/** A paragraph for each target that is taken back, with what its command printed; empty when there is none. */
export function renderRevertedTargets(deliveries: readonly SentDelivery[]): string {
  const paragraphs = deliveries.flatMap(({ nome, alvos_revertidos: targets = [] }) =>
    targets.map(({ alvo, reverted_at: since, erro }) => {
      const [reason = '', ...output] = erro.split('\n')
      const lines = output.map((line) => `    ${printable(line)}\n`)
      const target = alvo === null ? 'a target' : `target ${alvo}`
      return `\n${nome}: ${target} is taken back since ${since}\n  ${printable(reason)}\n${lines.join('')}`
    }),
  )
  return paragraphs.join('')
}
