// One-time means once: the identifiers of used tokens, kept for as long as the token itself could still pass.

export interface UsedTokens {
  /** True the first time; false when this token was used before. */
  use(identifier: string, expiresAt: Date, now: Date): boolean
}

const SWEEP_INTERVAL_MS = 60_000

export function createUsedTokens(): UsedTokens {
  const expiryById = new Map<string, number>()
  let sweptAtMs = 0
  const sweep = (nowMs: number): void => {
    if (nowMs - sweptAtMs < SWEEP_INTERVAL_MS) return
    sweptAtMs = nowMs
    for (const [identifier, expiryMs] of expiryById) {
      if (expiryMs < nowMs) expiryById.delete(identifier)
    }
  }
  return {
    use: (identifier, expiresAt, now) => {
      sweep(now.getTime())
      if (expiryById.has(identifier)) return false
      expiryById.set(identifier, expiresAt.getTime())
      return true
    },
  }
}
