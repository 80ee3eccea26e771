// An answer that comes when the test says so.

export interface LateAnswer<Value> {
  readonly promise: Promise<Value>
  /** Both resolve when whoever waited has gone on. */
  answer(value: Value): Promise<void>
  refuse(error: Error): Promise<void>
}

export function createLateAnswer<Value>(): LateAnswer<Value> {
  const { promise, resolve, reject } = Promise.withResolvers<Value>()
  const settle = async (): Promise<void> => {
    await promise.catch(() => undefined)
    await new Promise((done) => setImmediate(done))
  }
  return {
    promise,
    answer: (value) => {
      resolve(value)
      return settle()
    },
    refuse: (error) => {
      reject(error)
      return settle()
    },
  }
}
