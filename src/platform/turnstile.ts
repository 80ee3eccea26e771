/**
 * Lets one waiter through in each turn of the event loop, in their order: however many there are, whatever else is ready
 * waits for one of them at most.
 */
export function createTurnstile(): () => Promise<void> {
  const waiting: (() => void)[] = []
  const letOneThrough = (): void => {
    waiting.shift()?.()
    if (waiting.length > 0) setImmediate(letOneThrough)
  }
  return () =>
    new Promise((resolve) => {
      if (waiting.push(resolve) === 1) setImmediate(letOneThrough)
    })
}
