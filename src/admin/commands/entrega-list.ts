import { printable } from '../../platform/printable.ts'
import type { AdminDelivery } from '../../protocol/admin/views.ts'
import { listCommand } from './list-command.ts'
import { type Columns, renderRows } from '../terminal/table.ts'

/** A hub up to 0.4.0 says neither what hosts have taken back nor why a delivery waits. */
type NewField = 'reverted_at' | 'alvos_revertidos' | 'waiting_reason' | 'waiting_reason_at'
export type SentDelivery = Omit<AdminDelivery, NewField> & Partial<Pick<AdminDelivery, NewField>>

const DELIVERY_COLUMNS: Columns<SentDelivery> = {
  HOSTNAME: (delivery) => delivery.hostname,
  NOME: (delivery) => delivery.nome,
  TIPO: (delivery) => delivery.tipo,
  VERSAO: (delivery) => delivery.versao,
  STATUS: stateOf,
  UPDATED_AT: (delivery) => delivery.updated_at,
  ERRO: ({ erro, waiting_reason: waiting }) => firstLineOf(erro ?? waiting ?? null),
  ID: (delivery) => delivery.id,
}

/** `revertida` is no status on the wire: the status says what was installed, this what became of it on the host. */
function stateOf({ status, reverted_at: revertedAt }: SentDelivery): string {
  return revertedAt === null || revertedAt === undefined ? status : 'revertida'
}

/** Below it is what a command printed. */
function firstLineOf(erro: string | null): string | null {
  return erro?.split('\n', 1)[0] ?? null
}

export const registerEntregaList = listCommand({
  description: 'list the deliveries, oldest first',
  plural: 'entregas',
  ask: (operations, page) => operations.listDeliveries(page),
  columns: DELIVERY_COLUMNS,
})

export function renderDeliveries(deliveries: readonly SentDelivery[]): string {
  return renderRows(DELIVERY_COLUMNS, deliveries)
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
