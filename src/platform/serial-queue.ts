// Work that must not overlap runs one after the other, in the order asked for.

export interface SerialQueue {
  run<T>(work: () => Promise<T>): Promise<T>
}

export function createSerialQueue(): SerialQueue {
  let tail: Promise<unknown> = Promise.resolve()
  return {
    run(work) {
      const result = tail.then(work)
      // One failure must not fail the calls that wait behind it.
      tail = result.catch(() => undefined)
      return result
    },
  }
}
