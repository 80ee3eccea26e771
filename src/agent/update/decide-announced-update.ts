// What the agent makes of an update that its hub announces: asks root's helper for it, waits, or says what became of it. The hub names a version,
// and decides nothing else. docs/protocol.md RLO-38, RLO-39.

import {
  compareReleaseVersions,
  parseReleaseVersion,
  type ReleaseVersion,
} from '../../protocol/release-version.ts'
import type { UpdateOutcome } from './update-request.ts'

export interface AnnouncedUpdate {
  /** As the hub says it. */
  readonly version: string
  readonly rollout: string
}

export interface UpdateFacts {
  readonly announced: AnnouncedUpdate
  /** Of the agent that runs. */
  readonly ownVersion: string
  /** The settings say where announced releases are. */
  readonly isPermitted: boolean
  /** A new version has to prove itself: whichever runs, it may be another one in a minute. */
  readonly isOnTrial: boolean
  /** How often the helper was asked for this rollout. */
  readonly attempts: number
  /** Since this process asked last, for whichever rollout; undefined when it has not. By no clock that somebody can set, as the next one. */
  readonly sinceAskedMs: number | undefined
  /** Since this process looked first. */
  readonly sinceLookMs: number
  /** Of the last attempt. */
  readonly outcome: UpdateOutcome | undefined
  /** Another rollout has had this version tried. */
  readonly whyNotAgain: string | undefined
  /** The hub was told that it failed. */
  readonly isGivenUp: boolean
}

export type UpdateVerdict =
  | { readonly next: 'wait' }
  | { readonly next: 'ask' }
  | { readonly next: 'report'; readonly report: 'updated' }
  | {
      readonly next: 'report'
      readonly report: 'failed' | 'declined'
      /** For people. */
      readonly why: string
    }

const ATTEMPTS_MAX = 3
/** The download alone may take half an hour. */
const ANSWER_MS_MAX = 40 * 60_000
const AGAIN_MS = 3 * 60_000
/** What may be otherwise in a few minutes. */
const PASSING: ReadonlySet<string> = new Set(['download_failed', 'update_under_way'])

export function decideAnnouncedUpdate(facts: UpdateFacts): UpdateVerdict {
  const { announced, ownVersion, isPermitted, isOnTrial } = facts
  const wanted = parseReleaseVersion(announced.version)
  if (wanted === undefined) {
    return decline(`${JSON.stringify(announced.version)} is not a version such as 0.5.0`)
  }
  const own = parseReleaseVersion(ownVersion)
  const order = own === undefined ? undefined : compareReleaseVersions(own, wanted)
  if (order === undefined || order > 0) return decline(describeNewer(announced, ownVersion, own))
  if (isOnTrial) return { next: 'wait' }
  if (order === 0) return { next: 'report', report: 'updated' }
  if (!isPermitted) {
    return decline('this host follows no announced updates: SVC_AGENT_UPDATE_URL is not set')
  }
  return decideAttempt(facts)
}

function decideAttempt(facts: UpdateFacts): UpdateVerdict {
  const { announced, attempts, sinceAskedMs, outcome, ownVersion } = facts
  const isRested = sinceAskedMs === undefined || sinceAskedMs >= AGAIN_MS
  if (facts.whyNotAgain !== undefined) return fail(facts.whyNotAgain)
  if (attempts === 0) return isRested && !facts.isGivenUp ? { next: 'ask' } : { next: 'wait' }
  const isLast = attempts >= ATTEMPTS_MAX
  if (outcome === undefined) {
    // Of a process that ended meanwhile: whether the helper has seen it nobody knows, and it may be at work.
    if (sinceAskedMs === undefined && !isLast) return { next: 'ask' }
    if ((sinceAskedMs ?? facts.sinceLookMs) < ANSWER_MS_MAX) return { next: 'wait' }
    return fail('nothing on this host took the request up: is svc-agent-announced.path enabled?')
  }
  const { failure } = outcome
  if (failure === undefined) {
    return fail(
      `version ${announced.version} was installed, and version ${ownVersion} runs: it was taken back, or the agent was not started again`,
    )
  }
  if (!PASSING.has(failure.code) || isLast) return fail(`${failure.message} (${failure.code})`)
  return isRested ? { next: 'ask' } : { next: 'wait' }
}

function describeNewer(
  { version }: AnnouncedUpdate,
  ownVersion: string,
  own: ReleaseVersion | undefined,
): string {
  return own === undefined
    ? `this agent is no release: its version is ${ownVersion}`
    : `version ${version} is older than ${ownVersion}, which this host has`
}

function decline(why: string): UpdateVerdict {
  return { next: 'report', report: 'declined', why }
}

function fail(why: string): UpdateVerdict {
  return { next: 'report', report: 'failed', why }
}
