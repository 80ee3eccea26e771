// The next version of a sealed carga, for those that have it now: with another content, or with the one that it has.

import { hash } from 'node:crypto'
import { SvcError, UserError } from '../../platform/errors.ts'
import type { AdminOperations } from '../../protocol/admin.ts'
import { openSealed } from '../../sealing/sealed-file.ts'
import type { CommandContext } from '../command-context.ts'
import { deliverSealed, type SealedDelivery } from './deliver-sealed.ts'
import type { Vouched } from './judge-recipients.ts'
import { printSealed } from './print-sealed.ts'
import { type EscrowIdentity, readContent, readEscrowIdentity } from './read-secret.ts'

export interface SealedUpdate {
  readonly id: string
  readonly vouched: Vouched
  readonly json?: true
}

/** With what the file holds. */
export async function sealFile(
  context: CommandContext,
  update: SealedUpdate,
  file: string,
): Promise<void> {
  const source = await context.openSecret(file)
  try {
    await updateCargo(context, update, {
      ownEscrow: [],
      readContent: (bytesMax) => readContent(source, bytesMax),
    })
  } finally {
    await source.close()
  }
}

/** With what the hub has, opened here by an identity of the escrow. */
export async function sealAnew(
  context: CommandContext,
  update: SealedUpdate,
  identityFile: string,
): Promise<void> {
  const source = await context.openSecret(identityFile)
  try {
    const escrow = await readEscrowIdentity(source)
    await updateCargo(context, update, {
      ownEscrow: [escrow.recipient],
      readContent: (_bytesMax, operations) => openContent(operations, update.id, escrow),
    })
  } finally {
    await source.close()
  }
}

async function updateCargo(
  context: CommandContext,
  { id, vouched, json }: SealedUpdate,
  content: Pick<SealedDelivery<unknown>, 'ownEscrow' | 'readContent'>,
): Promise<void> {
  const delivered = await deliverSealed(context, {
    ...content,
    vouched,
    askForWhom: async (operations) => {
      const wanted = await operations.listRecipients({ carga: id, agentes: [], roles: [] })
      if (wanted.agentes.length > 0) return wanted
      throw new UserError('no_recipient', `no agente has an entrega of carga ${id}`, {
        hint: 'svc carga create makes a new one',
      })
    },
    deliver: (operations, selado) => operations.updateCargo({ carga: id, selado }),
  })
  const { carga_id, versao } = delivered.reply
  const news = `carga ${carga_id} is now versao ${versao}`
  await printSealed(context, delivered, { ...(json && { json }), news })
}

async function openContent(
  operations: AdminOperations,
  id: string,
  { identity }: EscrowIdentity,
): Promise<Uint8Array> {
  const { conteudo, sha256 } = await operations.readContent({ carga: id })
  const file = Buffer.from(conteudo, 'base64')
  if (hash('sha256', file) !== sha256) {
    throw new SvcError('content_damaged', `what the hub has of carga ${id} is not what it says`)
  }
  const opened = await openSealed(identity, file)
  if (opened.ok) return opened.content
  throw new UserError(
    'escrow_refused',
    `carga ${id} cannot be opened by that identity: ${opened.reason}`,
    { hint: 'without one that was its --escrow, only the file itself helps: --file' },
  )
}
