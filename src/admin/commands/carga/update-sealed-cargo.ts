// The next version of a sealed carga, for the agents that have the carga now, and for those that match its selector and wait: with
// a new content, or with the same one.

import { hash } from 'node:crypto'
import { invariant, SvcError, UserError } from '../../../platform/errors.ts'
import type { AdminOperations, AdminReplies } from '../../../protocol/admin/operations.ts'
import type { AdminRecipients } from '../../../protocol/admin/views.ts'
import { openSealed } from '../../../sealing/sealed-file.ts'
import type { CommandContext } from '../command-context.ts'
import { type Delivered, deliverSealed, type SealedDelivery } from './deliver-sealed.ts'
import type { Vouched } from '../../../sealing/recipients/judge-recipients.ts'
import { describeStart } from '../rollout/describe-rollout.ts'
import type { RolloutRules } from '../rollout/rollout-options.ts'
import { printSealed } from './print-sealed.ts'
import { readContent, readEscrowIdentity } from '../../sealed/read-secret.ts'
import type { RecipientPins } from '../../../sealing/recipients/recipient-pins.ts'
import { refuseStrangeContent } from '../../sealed/refuse-strange-content.ts'
import type { SecretSource } from '../../sealed/secret-source.ts'
import { describeLeftOut, leaveOutWaiting } from '../../sealed/waiting-recipients.ts'

export interface SealedUpdate {
  readonly id: string
  /** Only while the carga has this one. */
  readonly versao?: number | undefined
  readonly vouched: Vouched
  /** In waves. */
  readonly rules?: RolloutRules | undefined
  readonly json?: true
}

export interface NextContent extends Pick<
  SealedDelivery<DeliveredUpdate>,
  'ownEscrow' | 'readContent'
> {
  /** The versao that it was read from: what came since is not to be undone. Undefined when it was not. */
  readonly basis: () => number | undefined
  /** It stays as it was read first, whatever the hub has since. */
  readonly isReadOnce: boolean
}

export type DeliveredUpdate = AdminReplies['updateCargo'] & {
  readonly rollout?: AdminReplies['startRollout']
}

/** What the file holds; it is read once. */
export function contentOfFile(source: SecretSource): NextContent {
  let content: Promise<Uint8Array> | undefined
  return {
    ownEscrow: [],
    readContent: (bytesMax) => (content ??= readContent(source, bytesMax)),
    basis: () => undefined,
    isReadOnce: true,
  }
}

/** What the hub has, opened here by an identity of the escrow; `accepted` is the SHA-256 of what is vouched for. */
export async function contentOfHub(
  id: string,
  source: SecretSource,
  accepted: string | undefined,
): Promise<NextContent> {
  const { recipient, identity } = await readEscrowIdentity(source)
  let basis: number | undefined
  return {
    ownEscrow: [recipient],
    readContent: async (_bytesMax, operations, known) => {
      const { file, versao, sha256 } = await fetchContent(operations, id)
      const offered = { cargoId: id, versao, sha256 }
      refuseStrangeContent(offered, known.cargoes.get(id), accepted)
      basis = versao
      return openContent(id, file, identity)
    },
    basis: () => basis,
    isReadOnce: false,
  }
}

/** Seals and delivers the next version, and prints for whom. */
export async function sealNext(
  context: CommandContext,
  update: SealedUpdate,
  content: NextContent,
): Promise<void> {
  const delivered = await deliverNext(context, update, content, (named) => {
    // A rollout goes to the hosts that have the load.
    const holders = named.agentes.filter(({ waits }) => waits !== true)
    const wanted = update.rules === undefined ? named : { ...named, agentes: holders }
    const { wanted: settled, leftOut } = leaveOutWaiting(wanted)
    for (const each of leftOut) context.note(describeLeftOut(each))
    return settled
  })
  const { reply } = delivered
  const news =
    reply.rollout === undefined
      ? `load ${reply.carga_id} is now version ${reply.versao}`
      : describeStart(reply.rollout).trimEnd()
  await printSealed(context, delivered, { ...(update.json && { json: true }), news })
}

export function deliverNext(
  context: CommandContext,
  { id, versao: expected, vouched, rules }: SealedUpdate,
  { ownEscrow, readContent: read, basis }: NextContent,
  choose: (wanted: AdminRecipients, known: RecipientPins) => AdminRecipients,
): Promise<Delivered<DeliveredUpdate>> {
  return deliverSealed(context, {
    cargoId: id,
    ownEscrow,
    readContent: read,
    vouched,
    askForWhom: async (operations, known) => {
      const named = await operations.listRecipients({ carga: id, agentes: [], roles: [] })
      const wanted = choose(named, known)
      if (wanted.agentes.length > 0) return wanted
      throw new UserError('no_recipient', `no agent has a delivery of load ${id}`, {
        hint: 'svc load create makes a new one',
      })
    },
    deliver: async (operations, selado): Promise<DeliveredUpdate> => {
      const versao = expected ?? basis()
      const request = { carga: id, selado, ...(versao !== undefined && { versao }) }
      if (rules === undefined) return operations.updateCargo(request)
      const rollout = await operations.startRollout({ ...request, ...rules })
      const { carga_id, versao: next } = rollout
      invariant(carga_id !== null && next !== null, 'it is the rollout of a load')
      return { carga_id, versao: next, entregas: [], rollout }
    },
  })
}

async function fetchContent(
  operations: AdminOperations,
  id: string,
): Promise<{ readonly file: Uint8Array; readonly versao: number; readonly sha256: string }> {
  const { conteudo, versao, sha256: promised } = await operations.readContent({ carga: id })
  const file = Buffer.from(conteudo, 'base64')
  const sha256 = hash('sha256', file)
  if (sha256 === promised) return { file, versao, sha256 }
  throw new SvcError(
    'content_damaged',
    `the file that the hub sent for load ${id} does not match its digest`,
  )
}

async function openContent(id: string, file: Uint8Array, identity: string): Promise<Uint8Array> {
  const opened = await openSealed(identity, file)
  if (opened.ok) return opened.content
  throw new UserError(
    'escrow_refused',
    `that identity does not open load ${id}: ${opened.reason}`,
    { hint: 'use an identity of its --escrow, or give the content with --file' },
  )
}
