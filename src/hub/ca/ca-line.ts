// The line before a CA in which signing and revoking stand together. docs/protocol.md CAX-8 to CAX-10.

import type { Logger } from '../../platform/logger.ts'
import { unlessAborted } from '../../platform/unless-aborted.ts'
import { ConnectionFailure } from './ca-connection.ts'
import { createCallLimiter } from './call-limiter.ts'
import { CaError } from './certificate-authority.ts'

/** Asks when its turn has come, and once more when the connection is lost. Throws the signal's reason when it is aborted first. */
export type AskInLine = <Reply>(ask: () => Promise<Reply>, signal: AbortSignal) => Promise<Reply>

export interface CaLineOptions {
  readonly logger: Logger
  /** So many hubs share the CA's limit; asked before each call. */
  readonly countHubs?: (() => number) | undefined
}

/** How long a CA has for one answer, with the time in the line. */
export const CA_DEADLINE_MS = 10_000
/** Of all hubs together. */
export const CALLS_RUNNING_MAX = 16
/** At each hub. */
const WAITING_MAX = 64

export function createCaLine({ logger, countHubs = () => 1 }: CaLineOptions): AskInLine {
  const limiter = createCallLimiter({
    runningMax: () => shareOf(CALLS_RUNNING_MAX, countHubs()),
    waitingMax: WAITING_MAX,
  })
  const askTwice = async <Reply>(ask: () => Promise<Reply>): Promise<Reply> => {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof ConnectionFailure)) throw error
      logger.info({ fault: error.message }, 'connection to the CA lost, trying once more')
      return ask()
    }
  }
  return async (ask, signal) => {
    const leave = await limiter.enter(signal)
    if (leave === undefined) throw new CaError('overloaded', 'too many calls to the CA are waiting')
    // The caller leaves at the deadline; the place is free once the connection is, so that the callers who gave up a silent CA
    // are never more than there are places: each costs the CA a connection when the CA answers again.
    return unlessAborted(askTwice(ask).finally(leave), signal)
  }
}

/** What N hubs do together stays within the limit, unless there are more hubs than it has calls. */
function shareOf(callsMax: number, hubs: number): number {
  return Math.max(1, Math.floor(callsMax / Math.max(1, hubs)))
}
