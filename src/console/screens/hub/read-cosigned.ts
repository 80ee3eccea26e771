// Who signed the checkpoint that is kept with signatures of others, and when: c2sp.org/tlog-cosignature. The hub checked the signatures
// before it kept the note, and says so; nothing of it is proven here.

import { fromBase64 } from '../../../audit/browser/bytes.ts'

export interface Cosigned {
  readonly entries: number
  readonly witnesses: readonly {
    readonly name: string
    /** Undefined where the signature has no time in it. */
    readonly at: string | undefined
  }[]
}

const KEY_HASH_BYTES = 4
const TIME_BYTES = 8
/** The year 9999. */
const SECONDS_MAX = 253_402_300_799n

/** Undefined for what is no signed checkpoint. */
export function readCosigned(note: string): Cosigned | undefined {
  const split = note.lastIndexOf('\n\n')
  if (split < 0) return undefined
  const [origin = '', size = ''] = note.slice(0, split).split('\n')
  const entries = Number(size)
  if (!/^[0-9]+$/.test(size) || !Number.isSafeInteger(entries)) return undefined
  const witnesses = note
    .slice(split + 2)
    .split('\n')
    .flatMap((line) => {
      const [dash, name = '', base64 = ''] = line.split(' ')
      return dash !== '—' || name === origin ? [] : [{ name, at: timeOf(base64) }]
    })
  return { entries, witnesses }
}

function timeOf(base64: string): string | undefined {
  const bytes = fromBase64(base64)
  if (bytes === undefined || bytes.length <= KEY_HASH_BYTES + TIME_BYTES) return undefined
  const seconds = new DataView(bytes.buffer).getBigUint64(KEY_HASH_BYTES)
  if (seconds === 0n || seconds > SECONDS_MAX) return undefined
  return new Date(Number(seconds) * 1000).toISOString()
}
