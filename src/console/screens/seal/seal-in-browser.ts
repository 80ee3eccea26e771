// Seals in this browser: what was sealed leaves it, and nothing else. Its library is loaded when there is something to seal. SEA-1.

import { sha256, toBase64, toHex } from '../../../audit/browser/bytes.ts'
import type { AdminRequest } from '../../api/operations.ts'
import type { Judgement } from './sealer.ts'

export interface SealedHere {
  readonly selado: NonNullable<AdminRequest<'createCargo'>['selado']>
  /** Of the sealed file, in hex. */
  readonly sha256: string
}

const BASE64_SLICE_BYTES = 24_576

export async function sealInBrowser(
  { agentes, escrow }: Judgement,
  content: Uint8Array,
  onSealed: (count: number) => void,
): Promise<SealedHere> {
  const { Encrypter } = await import('age-encryption')
  const encrypter = new Encrypter()
  const recipients = [...agentes.map(({ recipient }) => recipient), ...escrow]
  for (const [index, recipient] of recipients.entries()) {
    encrypter.addRecipient(recipient)
    // A recipient who gets nothing: its turn comes when the recipients before it have had theirs, and then the page is drawn.
    encrypter.addRecipient({
      wrapFileKey: async () => {
        onSealed(index + 1)
        await new Promise((resolve) => setTimeout(resolve, 0))
        return []
      },
    })
  }
  const file = new Uint8Array(await encrypter.encrypt(content))
  const destinatarios = agentes.map(({ id, fingerprint }) => ({ agente: id, fingerprint }))
  return {
    selado: { conteudo: fileToBase64(file), destinatarios, escrow: [...escrow] },
    sha256: toHex(await sha256(file)),
  }
}

/** In slices: a call has not room for the bytes of a whole file as its arguments. */
function fileToBase64(bytes: Uint8Array): string {
  const slices: string[] = []
  for (let start = 0; start < bytes.length; start += BASE64_SLICE_BYTES) {
    slices.push(toBase64(bytes.subarray(start, start + BASE64_SLICE_BYTES)))
  }
  return slices.join('')
}
