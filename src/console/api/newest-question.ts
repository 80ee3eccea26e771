// One question at a time: of two that are on their way the newer one counts, and a page of the older one would be lost or doubled.

export interface NewestQuestion {
  readonly isAsking: boolean
  /** `work` asks once or several times, and looks after each answer whether it is still the newest. */
  take(work: (isNewest: () => boolean) => Promise<void>): Promise<void>
  /** Nothing that comes now counts. */
  stop(): void
}

export function createNewestQuestion({
  fail,
  done,
}: {
  readonly fail: (error: unknown) => void
  /** Also after a failure. */
  readonly done: () => void
}): NewestQuestion {
  let turn = 0
  let isAsking = false
  return {
    get isAsking() {
      return isAsking
    },
    take: async (work) => {
      turn += 1
      const mine = turn
      const isNewest = (): boolean => mine === turn
      isAsking = true
      try {
        await work(isNewest)
      } catch (error) {
        if (isNewest()) fail(error)
      }
      if (!isNewest()) return
      isAsking = false
      done()
    },
    stop: () => {
      turn += 1
    },
  }
}
