// So many calls at once, so many waiting in line, and a prompt no to everyone else.

export interface CallLimiter {
  /**
   * Resolves with the function that gives the place back, or answers undefined at once when the line is full.
   * Rejects with the signal's reason when it is aborted while waiting.
   */
  enter(signal: AbortSignal): Promise<() => void> | undefined
}

export interface CallLimits {
  /** Asked again whenever a call begins or ends. */
  readonly runningMax: () => number
  readonly waitingMax: number
}

export function createCallLimiter({ runningMax, waitingMax }: CallLimits): CallLimiter {
  let running = 0
  // A Set keeps the order of arrival, and gives up a place in the middle cheaply.
  const waiting = new Set<() => void>()

  const admitWaiting = (): void => {
    for (const admit of waiting) {
      if (running >= runningMax()) return
      running += 1
      admit()
    }
  }

  const leaveOnce = (): (() => void) => {
    let hasLeft = false
    return () => {
      if (hasLeft) return
      hasLeft = true
      running -= 1
      admitWaiting()
    }
  }

  const waitInLine = (signal: AbortSignal): Promise<() => void> =>
    new Promise((resolve, reject) => {
      const admit = (): void => {
        waiting.delete(admit)
        signal.removeEventListener('abort', giveUp)
        resolve(leaveOnce())
      }
      const giveUp = (): void => {
        waiting.delete(admit)
        reject(signal.reason as Error)
      }
      waiting.add(admit)
      signal.addEventListener('abort', giveUp, { once: true })
    })

  return {
    enter: (signal) => {
      if (signal.aborted) return Promise.reject(signal.reason as Error)
      if (running < runningMax()) {
        running += 1
        return Promise.resolve(leaveOnce())
      }
      return waiting.size < waitingMax ? waitInLine(signal) : undefined
    },
  }
}
