// What the hub signed of this host's identity, kept for the day on which a hub that was restored from a backup does not know the
// identity. docs/protocol.md BKP-14, BKP-18.

import { type Static, Type } from 'typebox'
import { Check } from 'typebox/value'
import { readTextIfPresent, replaceFile } from '../../platform/files.ts'

const ReceiptFile = Type.Object({
  /** Of the certificate, lower-case hex. */
  sha256: Type.String(),
  /** A signed note; it is for the hub to read. */
  receipt: Type.String(),
})
type ReceiptFile = Static<typeof ReceiptFile>

const BYTES_MAX = 16 * 1024

export class KeptReceipt {
  readonly #path: string
  /** Null when there is none; undefined before anybody looked. */
  #kept: ReceiptFile | null | undefined

  constructor(path: string) {
    this.#path = path
  }

  /** Undefined when there is none of this certificate. A file that is damaged counts as none: the hub gives another one. */
  async find(sha256: string): Promise<string | undefined> {
    this.#kept ??= parse(await readTextIfPresent(this.#path, BYTES_MAX))
    return this.#kept?.sha256 === sha256 ? this.#kept.receipt : undefined
  }

  /** In place of the one before; a receipt of another certificate is left alone. */
  async keep(sha256: string, receipt: string): Promise<void> {
    if (!receipt.includes(`\n${sha256}\n`)) return
    const kept = { sha256, receipt }
    await replaceFile(this.#path, `${JSON.stringify(kept)}\n`, 0o600)
    this.#kept = kept
  }
}

function parse(text: string | undefined): ReceiptFile | null {
  try {
    const file: unknown = JSON.parse(text ?? 'null')
    return Check(ReceiptFile, file) ? file : null
  } catch {
    return null
  }
}
