import { hash } from 'node:crypto'
import { UserError } from '../../platform/errors.ts'
import type { AdminSealed } from '../../protocol/admin/cargas.ts'
import type { AdminRecipient, AdminRecipients } from '../../protocol/admin/views.ts'
import { SEALED_BASE64_CHARACTERS_MAX } from '../../protocol/admin/bounds.ts'
import { fingerprintOf } from '../../sealing/age-identity.ts'
import { findOthers, type OtherRecipients } from '../../sealing/recipients/ask-recipients.ts'
import {
  judgeRecipients,
  type KnownAgent,
  type Vouched,
} from '../../sealing/recipients/judge-recipients.ts'
import type { RecipientPins } from '../../sealing/recipients/recipient-pins.ts'
import { AGE_HEADER_BYTES_MAX, sealedSize } from '../../sealing/recipients/sealed-size.ts'
import { sealFor } from '../../sealing/sealed-file.ts'
import type { Progress } from '../terminal/progress.ts'
import { explainRefusal } from './recipient-refusal.ts'

export interface SealRequest {
  /** What the hub answers: the recipients, and the size limit. */
  readonly wanted: AdminRecipients
  readonly known: RecipientPins
  readonly vouched: Vouched
  /** Called once the recipients are settled; reads at most so many bytes. */
  readonly readContent: (bytesMax: number) => Promise<Uint8Array>
  readonly progress: Progress
}

export interface Sealed {
  readonly selado: AdminSealed
  /** Of the sealed file. */
  readonly sha256: string
  readonly agents: readonly KnownAgent[]
  readonly pins: RecipientPins
}

/** It travels as base64. */
const SEALED_BYTES_MAX = (SEALED_BASE64_CHARACTERS_MAX / 4) * 3

const NOT_TRUSTED = 'nothing was sealed; do not trust the hub before you know why'

/** Throws a UserError when a recipient is one that nobody vouches for. */
export async function sealForAgents(request: SealRequest): Promise<Sealed> {
  const { wanted, known, vouched, readContent, progress } = request
  const named = { agents: wanted.agentes, escrow: wanted.escrow }
  const verdict = judgeRecipients(named, known, vouched, fingerprintOf)
  if (!verdict.ok) throw explainRefusal(verdict)
  const { agents, escrow, pins } = verdict
  const content = await readContent(wanted.content_bytes_max)
  const recipients = [...agents.map(({ recipient }) => recipient), ...escrow]
  refuseTooLarge(recipients.length, content.length)
  const file = await sealFor(recipients, content, (count) => {
    progress.show(`sealing for ${count} of ${recipients.length} recipients`)
  })
  progress.clear()
  const selado = {
    conteudo: Buffer.from(file).toString('base64'),
    destinatarios: agents.map(({ id, fingerprint }) => ({ agente: id, fingerprint })),
    escrow: [...escrow],
  }
  return { selado, sha256: hash('sha256', file), agents, pins }
}

/** Each recipient takes its part of what a hub takes in all. */
function refuseTooLarge(recipientCount: number, contentBytes: number): void {
  refuseTooMany(recipientCount)
  const { fileBytes } = sealedSize(recipientCount, contentBytes)
  if (fileBytes <= SEALED_BYTES_MAX) return
  throw new UserError(
    'file_too_large',
    `${contentBytes} bytes for ${recipientCount} recipients are ${fileBytes} sealed, and a hub takes ${SEALED_BYTES_MAX} at most`,
    { hint: 'make several loads, each for some of the agents' },
  )
}

export function refuseTooMany(recipientCount: number): void {
  const { headerBytes } = sealedSize(recipientCount, 0)
  if (headerBytes <= AGE_HEADER_BYTES_MAX) return
  throw new UserError(
    'too_many_recipients',
    `${recipientCount} recipients take ${headerBytes} bytes, and a hub takes ${AGE_HEADER_BYTES_MAX} of them at most`,
    { hint: 'make several loads, each for some of the agents' },
  )
}

export function refuseOthers(
  agents: readonly AdminRecipient[],
  asked: { readonly agentes: readonly string[]; readonly roles: readonly string[] },
): void {
  const others = findOthers(agents, asked)
  if (others !== undefined) throw explainOthers(others)
}

export function explainOthers(others: OtherRecipients): UserError {
  const hint = NOT_TRUSTED
  if (others.reason === 'unasked') {
    const { hostname } = others
    const message = `the hub names agent ${hostname}, which this command does not name`
    return new UserError('recipient_unasked', message, { hint })
  }
  const message = `the hub leaves out agent ${others.name}, which this command names`
  return new UserError('recipient_missing', message, { hint })
}
