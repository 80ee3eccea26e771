import { type Caller, SITE_SHARES } from './caller-key.ts'

/** What a caller may cost of all time; who costs more is in debt until so much time has passed. */
const CALLER_SHARE = 0.02
/** What is owed beyond it is forgiven. */
const DEBT_MS_MAX = 10_000
/** Beyond it the oldest are forgotten, and are as good as new. */
const CALLERS_MAX = 20_000

/** What callers have cost of late, in time. A /48 has a debt of its own, beside the debts of its /64s. */
export interface CallerDebts {
  charge(caller: Caller, costMs: number, nowMs: number): void
  /** Takes back what was charged for so much. */
  forgive(caller: Caller, costMs: number, nowMs: number): void
  /** When nothing is owed any more; long ago, or never known, is 0. */
  freeAtMs(caller: Caller): number
}

export function createCallerDebts(callersMax: number = CALLERS_MAX): CallerDebts {
  /** By when each caller will have paid. The caller that was charged last is the last. */
  const freeAt = new Map<string, number>()
  const owe = (key: string, debtMs: number, nowMs: number): void => {
    const ownMs = Math.max(freeAt.get(key) ?? 0, nowMs) + debtMs
    freeAt.delete(key)
    freeAt.set(key, Math.min(ownMs, nowMs + DEBT_MS_MAX))
  }
  const remit = (key: string, debtMs: number, nowMs: number): void => {
    const leftMs = (freeAt.get(key) ?? 0) - debtMs
    if (leftMs <= nowMs) freeAt.delete(key)
    else freeAt.set(key, leftMs)
  }
  const forget = (nowMs: number): void => {
    for (const [key, freeAtMs] of freeAt) {
      if (freeAtMs > nowMs && freeAt.size <= callersMax) return
      freeAt.delete(key)
    }
  }
  return {
    charge: ({ key, siteKey }, costMs, nowMs) => {
      owe(key, costMs / CALLER_SHARE, nowMs)
      if (siteKey !== undefined) owe(siteKey, costMs / CALLER_SHARE / SITE_SHARES, nowMs)
      forget(nowMs)
    },
    forgive: ({ key, siteKey }, costMs, nowMs) => {
      remit(key, costMs / CALLER_SHARE, nowMs)
      if (siteKey !== undefined) remit(siteKey, costMs / CALLER_SHARE / SITE_SHARES, nowMs)
    },
    freeAtMs: ({ key, siteKey = '' }) => Math.max(freeAt.get(key) ?? 0, freeAt.get(siteKey) ?? 0),
  }
}
