import type { AdminCreatedCargo } from '../../protocol/admin/views.ts'
import type { CommandContext } from './command-context.ts'
import { renderTable } from '../terminal/table.ts'
import type { Delivered, SealedFor } from './deliver-sealed.ts'

/** `news` says what became of the carga. */
export async function printSealed<Reply extends AdminCreatedCargo>(
  { output }: CommandContext,
  { reply, notKept }: Delivered<Reply>,
  options: { readonly json?: true; readonly news: string },
): Promise<void> {
  if (options.json) await output.writeJson(reply)
  else await output.write(`${options.news}, ${renderSealed(reply)}`)
  if (notKept !== undefined) throw notKept
}

/** The rows are the recipients that svc sealed for; the hub does not choose them. */
function renderSealed({ entregas, destinatarios, escrow }: AdminCreatedCargo & SealedFor): string {
  const entregaOf = new Map(entregas.map(({ id, agente_id }) => [agente_id, id]))
  const rows = destinatarios.map(({ agente_id, hostname, fingerprint }) => [
    hostname,
    entregaOf.get(agente_id) ?? null,
    fingerprint,
  ])
  const table = renderTable(['HOSTNAME', 'ENTREGA_ID', 'RECIPIENT'], rows)
  const agents = destinatarios.length === 1 ? '1 agente' : `${destinatarios.length} agentes`
  return `sealed for ${[agents, ...escrow].join(' and ')}\n\n${table}`
}
