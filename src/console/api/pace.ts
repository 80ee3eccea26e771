// When a screen asks again after a doorbell. All tabs of all people hear the same one: they spread what they ask, so that agents do not
// stand behind all of it at once, and what is long or matters less is asked less often. Where many tabs are open, the hub has all of
// them wait longer (docs/protocol.md DOR-11): agents do not notice how many they are.

/** At most so often, whatever rings. */
export const AGAIN_MS_MIN = 1000
/** Of lists, and of what stands beside a screen. */
export const UNHURRIED_MS = 5000
/** Without a stream, or after a hub that was too busy. */
export const POLL_MS = 15_000
const SPREAD_MS = 1000
const SPREAD_MS_MAX = 4000
/** What changes while nothing rings, such as a certificate that ends, is seen within five seconds where no more than fifty look. */
const WITH_TIME_MS = 4000
const STRETCH_OF_WITH_TIME = 5

let stretch = 1

/** As the hub says, of all that this tab asks. */
export function setStretch(times: number): void {
  stretch = Math.max(1, times)
}

export function currentStretch(): number {
  return stretch
}

/** As long as usual, times the stretch; never longer than without a stream. */
export function stretched(ms: number): number {
  return Math.max(ms, Math.min(ms * stretch, POLL_MS))
}

/** Between two questions whose answer changes by time alone. */
export function withTimeMs(): number {
  return Math.max(WITH_TIME_MS, stretched(WITH_TIME_MS / STRETCH_OF_WITH_TIME))
}

/** `paceMs` is between two questions; `isSoon` of what somebody waits for. */
export function waitToAsk(askedAtMs: number, paceMs: number, isSoon: boolean): number {
  const betweenMs = isSoon ? AGAIN_MS_MIN : stretched(paceMs)
  const waitMs = Math.max(0, askedAtMs + betweenMs - Date.now())
  return isSoon ? waitMs : waitAfterRing(waitMs)
}

/** From a doorbell until what is asked for it. */
export function waitAfterRing(ms: number): number {
  const [chance = 0] = crypto.getRandomValues(new Uint32Array(1))
  return ms + (chance / 2 ** 32) * Math.min(SPREAD_MS * stretch, SPREAD_MS_MAX)
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
