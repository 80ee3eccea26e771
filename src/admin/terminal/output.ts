import type { Writable } from 'node:stream'
import { errnoCode, SvcError } from '../../platform/errors.ts'
import { printableLines } from '../../platform/printable.ts'
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
    // Each write learns of its failure by its callback; without a listener the stream's own event would end the process.
    stream.on('error', () => undefined)
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
    const error = await this.#put(bytes)
    if (error) throw outputFailed(error)
  }

  async write(text: string): Promise<void> {
    if (this.#isClosed) return
    const error = await this.#put(printableLines(text))
    if (error === null || error === undefined) return
    this.#isClosed = true
    if (errnoCode(error) !== 'EPIPE') throw outputFailed(error)
  }

  #put(content: string | Uint8Array): Promise<Error | null | undefined> {
    return new Promise((resolve) => this.#stream.write(content, resolve))
  }

  async writeJson(document: unknown): Promise<void> {
    await this.write(`${JSON.stringify(document, null, 2)}\n`)
  }
}

function outputFailed(error: Error): SvcError {
  return new SvcError('output_failed', `cannot write the output: ${error.message}`, {
    cause: error,
  })
}
