/** Takes bytes out of a stream by number, whatever pieces they come in. */
export class ByteQueue {
  readonly #pieces: AsyncIterator<Uint8Array>
  #waiting: Buffer[] = []
  #bytes = 0
  #taken = 0

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.#pieces = pieces[Symbol.asyncIterator]()
  }

  /** How many bytes were taken so far. */
  get taken(): number {
    return this.#taken
  }

  /** Fewer than `count` only where the stream ends. */
  async take(count: number): Promise<Buffer> {
    while (this.#bytes < count) {
      const { done, value } = await this.#pieces.next()
      if (done === true) break
      this.#waiting.push(Buffer.from(value.buffer, value.byteOffset, value.length))
      this.#bytes += value.length
    }
    const all = this.#waiting.length === 1 ? this.#waiting[0] : Buffer.concat(this.#waiting)
    const found = all?.subarray(0, count) ?? Buffer.alloc(0)
    const rest = all?.subarray(found.length)
    this.#waiting = rest === undefined || rest.length === 0 ? [] : [rest]
    this.#bytes -= found.length
    this.#taken += found.length
    return found
  }

  async close(): Promise<void> {
    await this.#pieces.return?.()
  }
}
