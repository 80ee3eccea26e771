import { hash } from 'node:crypto'
import type { Recipient } from '../../protocol/identifiers.ts'
import type { Agent } from './agent.ts'
import type { EnrollmentReplay, EnrollmentToken } from './enrollment-token.ts'

export interface EnrollmentFingerprint {
  readonly hostname: string
  readonly role: string
  readonly csrSha256: string
  readonly idempotencyKey: string
  readonly recipient: Recipient | undefined
}

const REPLAY_MS_MAX = 24 * 3_600_000

/**
 * What a repeated request is answered, or undefined when it is not a repetition: the first reply may have been lost, and
 * the token is spent. docs/protocol.md ENR-17.
 */
export function decideReplay(
  token: EnrollmentToken,
  agent: Agent | undefined,
  fingerprint: string | undefined,
  now: Date,
): EnrollmentReplay | undefined {
  const { replay, consumedAt, expiresAt } = token
  if (fingerprint === undefined || replay?.fingerprint !== fingerprint) return undefined
  if (agent?.id !== replay.agentId || agent.revokedAt !== null) return undefined
  // A later enrolment of the same host ends this one's.
  if (agent.enrolledWith !== token.hash) return undefined
  const untilMs = Math.max(expiresAt.getTime(), (consumedAt?.getTime() ?? 0) + REPLAY_MS_MAX)
  return now.getTime() < untilMs ? replay : undefined
}

export function fingerprintEnrollment(request: EnrollmentFingerprint): string {
  const { hostname, role, csrSha256, idempotencyKey, recipient } = request
  // Without one as before there were any: what was stored then is still recognised.
  const parts = [
    hostname,
    role,
    csrSha256,
    idempotencyKey,
    ...(recipient === undefined ? [] : [recipient]),
  ]
  return hash('sha256', JSON.stringify(parts), 'hex')
}
