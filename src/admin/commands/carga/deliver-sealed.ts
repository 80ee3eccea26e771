// The steps of every command that seals: svc opens the operator's own files first, with the operator's rights; asks the hub
// for the recipients; seals the file and sends it to the hub; and last, stores the recipients that the operator accepted.

import { describeError, UserError } from '../../../platform/errors.ts'
import type { AdminSealed } from '../../../protocol/admin/cargas.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { AdminRecipients } from '../../../protocol/admin/views.ts'
import type { Recipient } from '../../../protocol/identifiers.ts'
import { fingerprintOf } from '../../../sealing/age-identity.ts'
import type { CommandContext } from '../command-context.ts'
import type { Vouched } from '../../../sealing/recipients/judge-recipients.ts'
import type { OpenPins } from '../../sealed/open-pins.ts'
import { addPins, NO_PINS, type RecipientPins } from '../../../sealing/recipients/recipient-pins.ts'
import { sealForAgents } from '../../sealed/seal-for-agents.ts'

export interface SealedDelivery<Reply extends DeliveredCargo> {
  /** Undefined of a new one, which gets its id from the hub. */
  readonly cargoId: string | undefined
  readonly vouched: Vouched
  /** Escrow recipients that the operator names or holds the identity of: they need nobody's word. */
  readonly ownEscrow: readonly Recipient[]
  readonly askForWhom: (
    operations: AdminOperations,
    known: RecipientPins,
  ) => Promise<AdminRecipients>
  readonly readContent: (
    bytesMax: number,
    operations: AdminOperations,
    known: RecipientPins,
  ) => Promise<Uint8Array>
  readonly deliver: (operations: AdminOperations, selado: AdminSealed) => Promise<Reply>
}

interface DeliveredCargo {
  readonly carga_id: string
  /** A new one has none yet. */
  readonly versao?: number
}

/** Who can open it. */
export interface SealedFor {
  readonly destinatarios: readonly SealedForAgent[]
  /** Fingerprints. */
  readonly escrow: readonly string[]
}

interface SealedForAgent {
  readonly agente_id: string
  readonly hostname: string
  readonly fingerprint: string
}

export interface Delivered<Reply> {
  readonly reply: Reply & SealedFor
  /** To be thrown when the reply is told: it is done, but what was vouched for is not remembered. */
  readonly notKept: UserError | undefined
}

export async function deliverSealed<Reply extends DeliveredCargo>(
  context: CommandContext,
  delivery: SealedDelivery<Reply>,
): Promise<Delivered<Reply>> {
  const pins = await context.openPins()
  try {
    const { reply, added } = await context.withAdmin(({ operations }) =>
      sealAndDeliver(context, operations, pins, delivery),
    )
    return { reply, notKept: await keep(pins, added) }
  } finally {
    pins.close()
  }
}

async function sealAndDeliver<Reply extends DeliveredCargo>(
  { progress }: CommandContext,
  operations: AdminOperations,
  pins: OpenPins,
  { cargoId, vouched, ownEscrow, askForWhom, readContent, deliver }: SealedDelivery<Reply>,
): Promise<{ readonly reply: Reply & SealedFor; readonly added: RecipientPins }> {
  const own = { ...NO_PINS, escrow: new Set(ownEscrow.map(fingerprintOf)) }
  const sealed = await sealForAgents({
    wanted: await askForWhom(operations, pins.known),
    known: addPins(pins.known, own),
    vouched,
    readContent: (bytesMax) => readContent(bytesMax, operations, pins.known),
    progress,
  })
  const reply = await deliver(operations, sealed.selado)
  if (cargoId === undefined) refuseKnownCargo(reply, pins.known)
  const pin = { versao: reply.versao ?? 1, sha256: sealed.sha256 }
  const cargoes = new Map([[cargoId ?? reply.carga_id, pin]])
  const destinatarios = sealed.agents.map(({ id, hostname, fingerprint }) => ({
    agente_id: id,
    hostname,
    fingerprint,
  }))
  const sealedFor = { destinatarios, escrow: [...sealed.pins.escrow] }
  return { reply: { ...reply, ...sealedFor }, added: { ...sealed.pins, cargoes } }
}

/** Otherwise a hub could make this machine remember the file of one carga as the file of another. */
function refuseKnownCargo({ carga_id: id }: DeliveredCargo, known: RecipientPins): void {
  if (!known.cargoes.has(id)) return
  throw new UserError(
    'carga_known',
    `the hub gives a new load the id of one that this machine sealed before: ${id}`,
    { hint: 'do not trust the hub before you know why' },
  )
}

async function keep(pins: OpenPins, added: RecipientPins): Promise<UserError | undefined> {
  try {
    await pins.add(added)
    return undefined
  } catch (error) {
    const message = `it is done, but svc could not note its recipients in ${pins.path}`
    return new UserError('recipients_not_kept', `${message}: ${describeError(error)}`, {
      cause: error,
      hint: 'accept the new recipients again next time',
    })
  }
}
