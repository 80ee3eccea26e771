// Who says for whom a page may seal: svc on this machine, by its pins, or this page, by what the person types or brings along.

import type { AskedFor } from '../../../sealing/recipients/ask-recipients.ts'
import { type JudgedRecipients, judgeRecipients, keepRecipients } from '../../api/local-console.ts'

export interface Sealer {
  judge(asked: AskedFor, vouched: readonly string[]): Promise<Judgement>
}

export interface Judgement extends Omit<JudgedRecipients, 'ticket'> {
  /** Undefined while somebody has to be vouched for. */
  readonly keep: KeepJudged | undefined
}

/** Once the hub has the file. Answers a `recipients.json` for the person to keep, where nobody else keeps one. */
type KeepJudged = (delivered: DeliveredFile) => Promise<string | undefined>

export interface DeliveredFile {
  readonly carga_id: string
  readonly versao: number
  /** Of the sealed file, in hex. */
  readonly sha256: string
}

export const SEALER_OF_SVC: Sealer = {
  judge: async ({ agentes, roles, ...asked }, vouched) => {
    const { ticket, ...judged } = await judgeRecipients({
      ...asked,
      agentes: [...agentes],
      roles: [...roles],
      vouched: [...vouched],
    })
    if (ticket === null) return { ...judged, keep: undefined }
    return {
      ...judged,
      keep: async (delivered) => {
        await keepRecipients({ ticket, ...delivered })
        return undefined
      },
    }
  },
}
