// Which states of sign-ins were finished at this hub. Of those that it forgets, the provider's code is good once anyway.

import { hash } from 'node:crypto'

export interface UsedStates {
  /** False for one that was taken before. */
  take(state: string): boolean
  /** So that it can be taken again. */
  giveBack(state: string): void
}

const KEPT_MAX = 4096

export function createUsedStates(keptMax: number = KEPT_MAX): UsedStates {
  const used = new Set<string>()
  const idOf = (state: string): string => hash('sha256', state, 'base64url')
  return {
    take: (state) => {
      const id = idOf(state)
      if (used.has(id)) return false
      const [oldest] = used
      if (used.size >= keptMax && oldest !== undefined) used.delete(oldest)
      used.add(id)
      return true
    },
    giveBack: (state) => {
      used.delete(idOf(state))
    },
  }
}
