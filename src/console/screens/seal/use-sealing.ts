// The steps of sealing: whom svc vouches for, the seal, the sealed file to the hub, and what svc is to remember.

import { useState } from 'preact/hooks'
import { ask } from '../../api/client.ts'
import {
  type JudgedRecipients,
  judgeRecipients,
  type JudgeRequest,
  keepRecipients,
} from '../../api/local-console.ts'
import { tellAct } from '../../api/pace.ts'
import { sealInBrowser } from './seal-in-browser.ts'

export type SealStep =
  | { readonly step: 'form'; readonly error?: Error; readonly tooLarge?: TooLarge }
  | { readonly step: 'judging' | 'sending' }
  | { readonly step: 'sealing'; readonly done: number; readonly total: number }
  | { readonly step: 'strangers'; readonly judged: JudgedRecipients }
  | {
      readonly step: 'done'
      readonly cargoId: string
      readonly judged: JudgedRecipients
      readonly isKept: boolean
    }

interface TooLarge {
  readonly bytes: number
  readonly most: number
}

export interface SealOrder {
  /** The next version of this load; undefined of a new one. */
  readonly carga: string | undefined
  readonly nome: string
  readonly whom: Omit<JudgeRequest, 'vouched' | 'carga'>
  readonly vouched: readonly string[]
  /** Known before it is read. */
  readonly bytes: number
  readonly read: () => Promise<Uint8Array>
  /** Takes the secret out of the page. */
  readonly clear: () => void
}

export interface Sealing {
  readonly state: SealStep
  run(order: SealOrder): Promise<void>
  reset(): void
}

export function useSealing(): Sealing {
  const [state, setState] = useState<SealStep>({ step: 'form' })
  return {
    state,
    reset: () => setState({ step: 'form' }),
    run: async (order) => {
      try {
        setState(await seal(order, setState))
      } catch (error) {
        setState({ step: 'form', error: error as Error })
      }
    },
  }
}

async function seal(order: SealOrder, show: (state: SealStep) => void): Promise<SealStep> {
  const { carga, nome, whom, vouched, bytes, read, clear } = order
  show({ step: 'judging' })
  const judged = await judgeRecipients({
    ...whom,
    ...(carga !== undefined && { carga }),
    vouched: [...vouched],
  })
  const { ticket, content_bytes_max: most } = judged
  if (bytes > most) return { step: 'form', tooLarge: { bytes, most } }
  if (ticket === null) return { step: 'strangers', judged }
  const total = judged.agentes.length + judged.escrow.length
  show({ step: 'sealing', done: 0, total })
  const sealed = await sealInBrowser(judged, await read(), (done) =>
    show({ step: 'sealing', done, total }),
  )
  show({ step: 'sending' })
  const { selado, sha256 } = sealed
  const delivered =
    carga === undefined
      ? await ask('createCargo', {
          tipo: 'selado',
          nome,
          agentes: [],
          roles: [],
          sans: [],
          selado,
          ...(whom.where !== undefined && { where: whom.where }),
        }).then(({ carga_id: id }) => ({ id, versao: 1 }))
      : await ask('updateCargo', { carga, selado }).then(({ carga_id: id, versao }) => {
          return { id, versao }
        })
  clear()
  tellAct()
  const { id: cargoId, versao } = delivered
  const isKept = await keepRecipients({ ticket, carga_id: cargoId, versao, sha256 }).then(
    () => true,
    () => false,
  )
  return { step: 'done', cargoId, judged, isKept }
}
