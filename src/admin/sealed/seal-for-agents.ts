import { UserError } from '../../platform/errors.ts'
import type { AdminRecipient, AdminRecipients, AdminSealed } from '../../protocol/admin.ts'
import { sealFor } from '../../sealing/sealed-file.ts'
import type { Progress } from '../progress.ts'
import { judgeRecipients, type KnownAgent, type Vouched } from './judge-recipients.ts'
import { explainRefusal } from './recipient-refusal.ts'
import type { RecipientPins } from './recipient-pins.ts'

export interface SealRequest {
  /** What the hub says: for whom, and how much. */
  readonly wanted: AdminRecipients
  readonly known: RecipientPins
  readonly vouched: Vouched
  /** Called once it is settled for whom; at most so many bytes. */
  readonly readContent: (bytesMax: number) => Promise<Uint8Array>
  readonly progress: Progress
}

export interface Sealed {
  readonly selado: AdminSealed
  readonly agents: readonly KnownAgent[]
  readonly pins: RecipientPins
}

const NOT_TRUSTED = 'nothing was sealed; the hub is not to be trusted before that is explained'

/** Throws a UserError when a recipient is one that nobody vouches for. */
export async function sealForAgents(request: SealRequest): Promise<Sealed> {
  const { wanted, known, vouched, readContent, progress } = request
  const named = { agents: wanted.agentes, escrow: wanted.escrow }
  const verdict = judgeRecipients(named, known, vouched)
  if (!verdict.ok) throw explainRefusal(verdict)
  const { agents, escrow, pins } = verdict
  const content = await readContent(wanted.content_bytes_max)
  const recipients = [...agents.map(({ recipient }) => recipient), ...escrow]
  const file = await sealFor(recipients, content, (count) => {
    progress.show(`sealing for ${count} of ${recipients.length} recipients`)
  })
  progress.clear()
  const selado = {
    conteudo: Buffer.from(file).toString('base64'),
    destinatarios: agents.map(({ id, fingerprint }) => ({ agente: id, fingerprint })),
    escrow: [...escrow],
  }
  return { selado, agents, pins }
}

/**
 * A hub that adds somebody whom the operator did not name would have the file sealed for them too; one that leaves
 * somebody out could have the word that was meant for them taken for another.
 */
export function refuseOthers(
  agents: readonly AdminRecipient[],
  asked: { readonly agentes: readonly string[]; readonly roles: readonly string[] },
): void {
  const names = new Set(asked.agentes)
  const roles = new Set(asked.roles)
  const unasked = agents.find(
    ({ id, hostname, role }) => !names.has(hostname) && !names.has(id) && !roles.has(role),
  )
  if (unasked !== undefined) {
    throw new UserError(
      'recipient_unasked',
      `the hub names agente ${unasked.hostname}, whom nobody asked for`,
      { hint: NOT_TRUSTED },
    )
  }
  const named = new Set(agents.flatMap(({ id, hostname }) => [id, hostname]))
  const missing = asked.agentes.find((name) => !named.has(name))
  if (missing === undefined) return
  throw new UserError(
    'recipient_missing',
    `the hub leaves out agente ${missing}, who was asked for`,
    { hint: NOT_TRUSTED },
  )
}
