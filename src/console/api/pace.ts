// When a screen asks again after a doorbell. All tabs of all people hear the same one: they spread what they ask, so that agents do not
// stand behind all of it at once, and what is long or matters less is asked less often.

/** At most so often, whatever rings. */
export const AGAIN_MS_MIN = 1000
/** Of lists, and of what stands beside a screen. */
export const UNHURRIED_MS = 5000
/** Without a stream, or after a hub that was too busy. */
export const POLL_MS = 15_000
export const SPREAD_MS = 1000

/** `paceMs` is between two questions; `isSoon` of what somebody waits for. */
export function waitToAsk(askedAtMs: number, paceMs: number, isSoon: boolean): number {
  const waitMs = Math.max(0, askedAtMs + (isSoon ? AGAIN_MS_MIN : paceMs) - Date.now())
  return isSoon ? waitMs : waitAfterRing(waitMs)
}

/** From a doorbell until what is asked for it. */
export function waitAfterRing(ms: number): number {
  const [chance = 0] = crypto.getRandomValues(new Uint32Array(1))
  return ms + (chance / 2 ** 32) * SPREAD_MS
}

const acted = new Set<() => void>()

/** Somebody acted in this tab, and waits for what it shows. Answers how to stop listening. */
export function onAct(listener: () => void): () => void {
  acted.add(listener)
  return () => {
    acted.delete(listener)
  }
}

/** Everything that is on the screen is asked again. */
export function tellAct(): void {
  for (const listener of acted) listener()
}
