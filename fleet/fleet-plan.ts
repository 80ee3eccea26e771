// How a fleet of so many agents is run on this machine: who is enrolled how, who runs, who holds a stream.

import type { Storm } from './fleet-options.ts'

export interface FleetPlan {
  readonly enrolled: number
  /** Agents with a kept connection; each polls for enrolled/running agents. */
  readonly running: number
  /** Of these, how many hold their stream besides. */
  readonly streams: number
  /** New hosts that enrol with a token of their own during the storm. */
  readonly newHosts: number
  /** Written into the vault, and not enrolled one by one. */
  readonly isFilled: boolean
  /** How old the certificates are that are written into it: between two ages. */
  readonly ageSeconds: readonly [min: number, max: number]
  /** Over how long the agents start. */
  readonly rampSeconds: number
}

/** Real enrolments up to here: a few seconds of them. */
const ENROLLED_MAX = 1000
/** Of hub and driver, for everything that is no connection of an agent. */
const OTHER_FILES = 400
/** New hosts that start together with a fleet of twenty times as many. */
const NEW_HOSTS_SHARE = 20
const HOUR_SECONDS = 3600
/** A certificate of 24 h is renewed when 6 h are left: in a fleet as old as this one all ages up to 16 h are there. */
const ANY_AGE = [0, 16 * HOUR_SECONDS] as const
/** Each of them due, and none near its end. */
const DUE_AGE = [19 * HOUR_SECONDS, 20 * HOUR_SECONDS] as const
/** What opening a connection takes of the hub, several times over: agents start more slowly than it can serve them. */
const CONNECTION_SECONDS = 0.005

export function planFleet(
  enrolled: number,
  filesMax: number,
  pollSeconds: number,
  storm: Storm | undefined,
): FleetPlan {
  const connectionsMax = filesMax - OTHER_FILES
  const newHosts = storm === 'restart' ? Math.ceil(enrolled / NEW_HOSTS_SHARE) : 0
  const [running, streams] = shareConnections(enrolled + newHosts, connectionsMax)
  return {
    enrolled,
    running: running - newHosts,
    streams,
    newHosts,
    isFilled: storm !== undefined || enrolled > ENROLLED_MAX,
    ageSeconds: storm === 'renewal' || storm === 'ca-outage' ? DUE_AGE : ANY_AGE,
    rampSeconds: Math.max(pollSeconds, (running + streams) * CONNECTION_SECONDS),
  }
}

/** Kept connections first, streams with what is left; where not all agents can run, a quarter is for streams. */
function shareConnections(
  agents: number,
  connectionsMax: number,
): readonly [running: number, streams: number] {
  if (agents <= connectionsMax * 0.75) return [agents, Math.min(agents, connectionsMax - agents)]
  const running = Math.floor(connectionsMax * 0.75)
  return [running, connectionsMax - running]
}
