import type { Readiness, Subsystem } from '../../platform/metrics-server.ts'
import type { AgentStatus, RoundResult } from './status.ts'

export interface AgentReadinessFacts {
  readonly status: Pick<AgentStatus, 'state' | 'identity' | 'deliveries'>
  readonly lastResult: RoundResult | undefined
  readonly now: Date
  readonly pollIntervalMs: number
  /** Targets of the agent’s own whose last pass failed. */
  readonly failedTargets: readonly string[]
}

/** While the hub is away a round comes every five minutes at the most. */
const ROUND_AGE_MS_MAX = 15 * 60_000

export function decideAgentReadiness(facts: AgentReadinessFacts): Readiness {
  return {
    identity: judgeIdentity(facts),
    hub: judgeHub(facts),
    deliveries: judgeDeliveries(facts),
  }
}

function judgeIdentity({ status: { state, identity } }: AgentReadinessFacts): Subsystem {
  if (state === 'none' || identity === null) {
    return { isReady: false, reason: 'there is no identity; svc-agent enroll makes one' }
  }
  if (state !== 'valid' && state !== 'expired') {
    return { isReady: false, reason: `the hub calls the identity ${state.replace('_', ' ')}` }
  }
  return state === 'expired'
    ? { isReady: false, reason: `the identity expired at ${identity.not_after}` }
    : { isReady: true, reason: `the identity is good until ${identity.not_after}` }
}

function judgeHub({ lastResult, now, pollIntervalMs }: AgentReadinessFacts): Subsystem {
  if (lastResult === undefined) return { isReady: false, reason: 'no round has ended yet' }
  const { outcome, finishedAt } = lastResult
  const at = finishedAt.toISOString()
  if (outcome !== 'completed') {
    return { isReady: false, reason: `the last round, at ${at}, ended as ${outcome}` }
  }
  const ageMsMax = Math.max(ROUND_AGE_MS_MAX, 2 * pollIntervalMs)
  const isOld = Math.abs(now.getTime() - finishedAt.getTime()) > ageMsMax
  return { isReady: !isOld, reason: `the last round completed at ${at}` }
}

function judgeDeliveries({ status, failedTargets }: AgentReadinessFacts): Subsystem {
  const failing = status.deliveries.filter(({ hook_failure }) => hook_failure !== null)
  const faults = [...failing.map(({ name }) => `hook of ${name}`), ...failedTargets]
  return faults.length === 0
    ? { isReady: true, reason: `${status.deliveries.length} installed` }
    : { isReady: false, reason: `failing: ${faults.slice(0, 10).join(', ')}` }
}
