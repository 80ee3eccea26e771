import type { AdminCreatedCargo } from '../../../protocol/admin/views.ts'
import type { Language } from '../../../protocol/spoken-words.ts'
import type { CommandContext } from '../command-context.ts'
import { renderRows } from '../../terminal/table.ts'
import type { Delivered, SealedFor } from './deliver-sealed.ts'

/** `news` says what became of the carga. */
export async function printSealed<Reply extends AdminCreatedCargo>(
  { output }: CommandContext,
  { reply, notKept }: Delivered<Reply>,
  options: { readonly json?: true; readonly news: string },
): Promise<void> {
  if (options.json) await output.writeJson(reply)
  else await output.write(`${options.news}, ${renderSealed(output.language, reply)}`)
  if (notKept !== undefined) throw notKept
}

/** The rows are the recipients that svc sealed for; the hub does not choose them. */
function renderSealed(
  language: Language,
  { entregas, destinatarios, escrow }: AdminCreatedCargo & SealedFor,
): string {
  const entregaOf = new Map(entregas.map(({ id, agente_id }) => [agente_id, id]))
  const table = renderRows(
    language,
    {
      hostname: ({ hostname }) => hostname,
      entrega_id: ({ agente_id }) => entregaOf.get(agente_id) ?? null,
      recipient: ({ fingerprint }) => fingerprint,
    },
    destinatarios,
  )
  const agents = destinatarios.length === 1 ? '1 agent' : `${destinatarios.length} agents`
  return `sealed for ${[agents, ...escrow].join(' and ')}\n\n${table}`
}
