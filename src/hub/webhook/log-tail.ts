/** The number of the last entry that is known to be in the log, and the callers that wait for a later one. */
export class LogTail {
  #seq = 0
  readonly #waiting = new Set<() => void>()

  get seq(): number {
    return this.#seq
  }

  advance(seq: number): void {
    if (seq <= this.#seq) return
    this.#seq = seq
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of waiting) wake()
  }

  /** Resolves once there is an entry after that number; rejects with the signal's reason. */
  waitBeyond(seq: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error)
        return
      }
      if (this.#seq > seq) {
        resolve()
        return
      }
      const onAbort = (): void => {
        this.#waiting.delete(wake)
        reject(signal.reason as Error)
      }
      const wake = (): void => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }
      this.#waiting.add(wake)
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }
}
