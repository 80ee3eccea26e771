/** Work that goes on until it is disposed of; its signal aborts then, and disposing waits for its end. */
export function runWhileOpen(run: (signal: AbortSignal) => Promise<void>): AsyncDisposable {
  const stopping = new AbortController()
  const running = run(stopping.signal)
  return {
    [Symbol.asyncDispose]: () => {
      stopping.abort()
      return running
    },
  }
}
