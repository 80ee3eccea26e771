// The steps of sealing: whom somebody vouches for, the seal, the sealed file to the hub, and what is to be remembered.

import { useState } from 'preact/hooks'
import { SEALED_BASE64_CHARACTERS_MAX } from '../../../protocol/admin/bounds.ts'
import type { AskedFor } from '../../../sealing/recipients/ask-recipients.ts'
import { sealedSize } from '../../../sealing/recipients/sealed-size.ts'
import { ask } from '../../api/client.ts'
import { HubError, HubUnreachable } from '../../api/hub-error.ts'
import { tellAct } from '../../api/pace.ts'
import { sealInBrowser, type SealedHere } from './seal-in-browser.ts'
import type { Judgement, Sealer } from './sealer.ts'

export type SealStep =
  | { readonly step: 'form'; readonly error?: Error; readonly tooLarge?: TooLarge }
  | { readonly step: 'judging' | 'sending' }
  | { readonly step: 'sealing'; readonly done: number; readonly total: number }
  | { readonly step: 'strangers'; readonly judged: Judgement }
  /** The hub may have the file: it is sent again as it is, and the hub acts once. docs/protocol.md API-16. */
  | { readonly step: 'unanswered'; readonly error: Error; readonly again: () => Promise<void> }
  /** Somebody else has made another version meanwhile. */
  | { readonly step: 'changed' }
  | {
      readonly step: 'done'
      readonly cargoId: string
      readonly judged: Judgement
      readonly isKept: boolean
      /** For the person to keep, where nobody else keeps it. */
      readonly pins: string | undefined
    }

interface TooLarge {
  readonly bytes: number
  readonly most: number
  /** Undefined of the content itself. */
  readonly recipients?: number
}

export interface SealOrder {
  readonly sealer: Sealer
  /** The next version of this load, as it was shown; undefined of a new one. */
  readonly next: { readonly id: string; readonly versao: number } | undefined
  readonly nome: string
  readonly whom: Omit<AskedFor, 'carga'>
  readonly vouched: readonly string[]
  /** Known before it is read. */
  readonly bytes: number
  readonly read: () => Promise<Uint8Array>
  /** The hub has it: takes the secret out of the page. */
  readonly onDelivered: (versao: number) => void
}

export interface Sealing {
  readonly state: SealStep
  run(order: SealOrder): Promise<void>
  reset(): void
}

const SEALED_BYTES_MAX = (SEALED_BASE64_CHARACTERS_MAX / 4) * 3

export function useSealing(): Sealing {
  const [state, setState] = useState<SealStep>({ step: 'form' })
  const send = async (sealed: SealedOrder): Promise<void> => {
    setState({ step: 'sending' })
    try {
      setState(await deliver(sealed))
    } catch (error) {
      setState(explainFailure(error, () => send(sealed)))
    }
  }
  return {
    state,
    reset: () => setState({ step: 'form' }),
    run: async (order) => {
      try {
        const prepared = await prepare(order, setState)
        if (prepared.step !== 'sealed') return setState(prepared)
        await send(prepared)
      } catch (error) {
        setState({ step: 'form', error: error as Error })
      }
    },
  }
}

interface SealedOrder {
  readonly step: 'sealed'
  readonly order: SealOrder
  readonly judged: Judgement
  readonly keep: NonNullable<Judgement['keep']>
  readonly sealed: SealedHere
  readonly idempotencyKey: string
}

async function prepare(
  order: SealOrder,
  show: (state: SealStep) => void,
): Promise<SealStep | SealedOrder> {
  const { sealer, next, whom, vouched, bytes, read } = order
  show({ step: 'judging' })
  const judged = await sealer.judge(
    { ...whom, ...(next !== undefined && { carga: next.id }) },
    vouched,
  )
  const { keep, content_bytes_max: most } = judged
  if (bytes > most) return { step: 'form', tooLarge: { bytes, most } }
  if (keep === undefined) return { step: 'strangers', judged }
  const total = judged.agentes.length + judged.escrow.length
  const { fileBytes } = sealedSize(total, bytes)
  if (fileBytes > SEALED_BYTES_MAX) {
    const tooLarge = { bytes: fileBytes, most: SEALED_BYTES_MAX, recipients: total }
    return { step: 'form', tooLarge }
  }
  show({ step: 'sealing', done: 0, total })
  const sealed = await sealInBrowser(judged, await read(), (done) =>
    show({ step: 'sealing', done, total }),
  )
  return { step: 'sealed', order, judged, keep, sealed, idempotencyKey: crypto.randomUUID() }
}

async function deliver({
  order: { next, nome, whom, onDelivered },
  judged,
  keep,
  sealed: { selado, sha256 },
  idempotencyKey,
}: SealedOrder): Promise<SealStep> {
  const delivered =
    next === undefined
      ? await ask(
          'createCargo',
          {
            tipo: 'selado',
            nome,
            agentes: [],
            roles: [],
            sans: [],
            selado,
            ...(whom.where !== undefined && { where: whom.where }),
          },
          { idempotencyKey },
        ).then(({ carga_id: id }) => ({ carga_id: id, versao: 1 }))
      : await update(next, { selado, sha256 })
  const { carga_id: cargoId, versao } = delivered
  onDelivered(versao)
  tellAct()
  const kept = await keep({ carga_id: cargoId, versao, sha256 }).then(
    (pins) => ({ isKept: true, pins }),
    () => ({ isKept: false, pins: undefined }),
  )
  return { step: 'done', cargoId, judged, ...kept }
}

/** What nobody answered may have been taken: sent again, the file comes after itself, and nobody else has made a version. */
async function update(
  { id, versao }: NonNullable<SealOrder['next']>,
  { selado, sha256 }: SealedHere,
): Promise<{ readonly carga_id: string; readonly versao: number }> {
  try {
    return await ask('updateCargo', { carga: id, selado }, { ifMatch: `"${versao}"` })
  } catch (error) {
    if (!isChanged(error)) throw error
    const present = await ask('showCargo', { carga: id })
    if (present.conteudo?.sha256 !== sha256) throw error
    return { carga_id: id, versao: present.versao }
  }
}

function isChanged(error: unknown): boolean {
  return error instanceof HubError && error.status === 412
}

function explainFailure(error: unknown, again: () => Promise<void>): SealStep {
  if (error instanceof HubUnreachable) return { step: 'unanswered', error, again }
  if (isChanged(error)) return { step: 'changed' }
  return { step: 'form', error: error as Error }
}
