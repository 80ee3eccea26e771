// What is next for a rollout: one pure decision of what is known, which the hub asks for again in the commit that acts on it.
// docs/protocol.md RLO-7 to RLO-13.

import { failuresAllowed } from '../../protocol/rollout-share.ts'
import { type Freeze, isInForce } from './freeze.ts'
import { isLastWave, type Rollout, type RolloutCounts, type RolloutKind } from './rollout.ts'

export interface RolloutFacts {
  readonly rollout: Rollout
  readonly counts: RolloutCounts
  /** The one that nobody has ended; its time may be over. */
  readonly freeze: Freeze | undefined
  readonly now: Date
}

export type RolloutVerdict =
  | {
      readonly next: 'wait'
      /** For people. */
      readonly why: string
      /** All hosts are done: the time until the next look counts as soak. */
      readonly isSoaking: boolean
    }
  /** More hosts of the wave are to be given the version, or asked. */
  | { readonly next: 'give' }
  /** Which hosts are in it is to be counted. */
  | { readonly next: 'open wave'; readonly wave: number }
  | { readonly next: 'freeze'; readonly reason: string }
  /** All waves are done. */
  | { readonly next: 'finish' }
  /** More hosts are to be given the last good version, or asked no more. */
  | { readonly next: 'take back' }

/** For people: what is waited for, and that nobody did it. */
const WORDS: Readonly<Record<RolloutKind, { readonly pending: string; readonly nobody: string }>> =
  {
    load: { pending: 'to install it', nobody: 'no host has installed the version' },
    roots: { pending: 'to adopt the roots', nobody: 'no host has adopted the roots' },
    rotation: { pending: 'to use a new identity', nobody: 'no host uses a new identity' },
    update: { pending: 'to run the version', nobody: 'no host runs the version' },
  }

export function decideRollout({ rollout, counts, freeze, now }: RolloutFacts): RolloutVerdict {
  const { state, soakMs, soakedMs } = rollout
  if (state === 'undoing') return { next: 'take back' }
  if (state !== 'running') return wait(describeStanding(rollout))
  const tooMany = findTooMany(rollout, counts)
  if (tooMany !== undefined) return { next: 'freeze', reason: tooMany }
  if (freeze !== undefined && isInForce(freeze, now)) {
    return wait(`a freeze holds until ${freeze.until.toISOString()}: ${freeze.why}`)
  }
  if (rollout.threshold === null) return { next: 'open wave', wave: rollout.wave }
  if (!rollout.isGiven) return { next: 'give' }
  const unfinished = counts.pending + counts.unprobed
  if (unfinished > 0 && !isLate(rollout)) return wait(describeUnfinished(rollout, counts))
  // Unless somebody has said that it goes on so, or nobody was to do it.
  if (counts.done === 0 && rollout.tolerated === 0 && !haveAllDeclined(counts)) {
    return { next: 'freeze', reason: WORDS[rollout.subject.kind].nobody }
  }
  if (soakedMs < soakMs) {
    const why = `the wave soaks for another ${secondsOf(soakMs - soakedMs)}`
    return { next: 'wait', why, isSoaking: true }
  }
  return isLastWave(rollout) ? { next: 'finish' } : { next: 'open wave', wave: rollout.wave + 1 }
}

/** How many hosts count as failed, and how many may. */
export function countFailures(
  rollout: Rollout,
  { pending, silent, unprobed, done, failed }: RolloutCounts,
): { readonly failed: number; readonly late: number; readonly allowed: number } {
  const hosts = pending + unprobed + done + failed
  // Behind the last wave nobody waits for a host that is gone: it gets the version when it comes back.
  const waited = isLastWave(rollout) ? pending - silent : pending
  return {
    failed,
    late: rollout.isGiven && isLate(rollout) ? waited + unprobed : 0,
    allowed: Math.max(failuresAllowed(rollout.maxFailed, hosts), rollout.tolerated),
  }
}

function haveAllDeclined({ declined, pending, unprobed, failed }: RolloutCounts): boolean {
  return declined > 0 && pending + unprobed + failed === 0
}

function findTooMany(rollout: Rollout, counts: RolloutCounts): string | undefined {
  const { failed, late, allowed } = countFailures(rollout, counts)
  if (failed + late <= allowed) return undefined
  const hosts = counts.pending + counts.unprobed + counts.done + counts.failed
  const parts = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(late > 0 ? [`${late} not done within ${secondsOf(rollout.lateMs)}`] : []),
  ]
  return `of ${countOf(hosts)} ${parts.join(' and ')}, where ${allowed} may`
}

function isLate({ openMs, lateMs }: Rollout): boolean {
  return openMs >= lateMs
}

function describeStanding({ state, changedBy, reason }: Rollout): string {
  if (state === 'paused') return `${changedBy ?? 'somebody'} paused it`
  return state === 'frozen' ? `it is frozen: ${reason ?? ''}` : `it is ${state}`
}

function describeUnfinished({ subject }: Rollout, { pending, unprobed }: RolloutCounts): string {
  const parts = [
    ...(pending > 0 ? [`${countOf(pending)} ${WORDS[subject.kind].pending}`] : []),
    ...(unprobed > 0 ? [`${countOf(unprobed)} to report its targets`] : []),
  ]
  return `it waits for ${parts.join(', and for ')}`
}

function wait(why: string): RolloutVerdict {
  return { next: 'wait', why, isSoaking: false }
}

function countOf(hosts: number): string {
  return hosts === 1 ? '1 host' : `${hosts} hosts`
}

function secondsOf(durationMs: number): string {
  return `${Math.ceil(durationMs / 1000)} s`
}
