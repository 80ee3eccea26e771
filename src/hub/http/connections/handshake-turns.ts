/** An agent gives up a connection after 5 s, and needs some of that for its own part of the handshake. */
const WAIT_MS_MAX = 4000
/** A hub that lets clients wait for longer has fallen behind. */
const BEHIND_MS = 1000
/** What is dropped costs a little as well. */
const DROPS_A_TURN = 16

/** A client that has said hello. */
export interface WaitingHello {
  /** It may have gone meanwhile. */
  readonly isGone: () => boolean
  readonly begin: () => void
  /** It has waited for too long. */
  readonly drop: () => void
}

/**
 * The steps of handshakes, one in a turn of the event loop: the first at once, what comes in the same turn afterwards. Else
 * those that have come at the same time would be done one after the other, and agents would wait for all of them.
 *
 * What was begun comes first, then those that wait to begin, in their order; by a hub that has fallen behind the newest: it
 * would spend all of its time on clients that are about to give up. Always the newest first, a client among a few that come
 * again and again would be left waiting until it is dropped. docs/protocol.md LIM-30, LIM-43.
 */
export interface HandshakeTurns {
  /** A certificate is there, and is to be verified. */
  readonly verify: (work: () => void) => void
  readonly begin: (hello: WaitingHello) => void
}

interface Waiting extends WaitingHello {
  readonly sinceMs: number
}

export interface TurnsTime {
  readonly nowMs: () => number
  /** Calls back in the phase of the event loop in which TLS may begin. */
  readonly inReadPhase: (work: () => void) => void
}

export function createHandshakeTurns({ nowMs, inReadPhase }: TurnsTime): HandshakeTurns {
  const certificates: (() => void)[] = []
  /** The newest is the last. */
  const hellos: Waiting[] = []
  let isTaken = false
  const dropOld = (): void => {
    const oldestMs = nowMs() - WAIT_MS_MAX
    for (let count = 0; count < DROPS_A_TURN; count += 1) {
      const [oldest] = hellos
      if (oldest === undefined || oldest.sinceMs >= oldestMs) return
      hellos.shift()
      oldest.drop()
    }
  }
  const takeHello = (): Waiting | undefined => {
    for (;;) {
      const [oldest] = hellos
      const isBehind = oldest !== undefined && nowMs() - oldest.sinceMs > BEHIND_MS
      const hello = isBehind ? hellos.pop() : hellos.shift()
      if (hello?.isGone() !== true) return hello
    }
  }
  const take = (): (() => void) | undefined => {
    const certificate = certificates.shift()
    if (certificate !== undefined) return certificate
    const hello = takeHello()
    return hello && (() => inReadPhase(hello.begin))
  }
  const next = (): void => {
    dropOld()
    const work = take()
    isTaken = work !== undefined
    if (work === undefined) return
    setImmediate(next)
    work()
  }
  /** Whether this is the first of its turn. */
  const isFirst = (): boolean => {
    if (isTaken) return false
    isTaken = true
    setImmediate(next)
    return true
  }
  return {
    verify: (work) => {
      if (isFirst()) work()
      else certificates.push(work)
    },
    begin: (hello) => {
      if (isFirst()) hello.begin()
      else hellos.push({ ...hello, sinceMs: nowMs() })
    },
  }
}
