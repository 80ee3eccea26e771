import type { Writable } from 'node:stream'
import { errnoCode } from '../../platform/errors.ts'
import { printableLines } from '../../platform/printable.ts'
import { outputLost, put } from '../../platform/standard-output.ts'
import type { Language } from '../../protocol/spoken-words.ts'

/**
 * What a command writes to stdout, without anything that a terminal would obey (docs/protocol.md CLI-47). When the reader has
 * gone (`| head`) the rest is dropped without a word.
 */
export class Output {
  /** Of headings, labels and states; the settings say which, before anything is printed. */
  language: Language = 'en'
  readonly #stream: Writable
  #isClosed = false

  constructor(stream: Writable) {
    this.#stream = stream
  }

  /** Nobody reads any more: what has no other effect than output may stop. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  get isTerminal(): boolean {
    return 'isTTY' in this.#stream && this.#stream.isTTY === true
  }

  /** Undefined for what is no file of this process. */
  get descriptor(): number | undefined {
    return 'fd' in this.#stream ? Number(this.#stream.fd) : undefined
  }

  /** How wide help may be. */
  get columns(): number {
    return this.isTerminal && 'columns' in this.#stream ? Number(this.#stream.columns) : 80
  }

  /** Not for people: as they are. A reader that has gone is a failure, since it did not get all. */
  async writeBytes(bytes: Uint8Array): Promise<void> {
    const error = await put(this.#stream, bytes)
    if (error !== undefined) throw outputLost(error)
  }

  async write(text: string): Promise<void> {
    if (this.#isClosed) return
    const error = await put(this.#stream, printableLines(text))
    if (error === undefined) return
    this.#isClosed = true
    if (errnoCode(error) !== 'EPIPE') throw outputLost(error)
  }

  async writeJson(document: unknown): Promise<void> {
    await this.write(`${JSON.stringify(document, null, 2)}\n`)
  }
}
