// What the CA's replies to a revocation mean: docs/protocol.md REV-4 to REV-6.

import type { CaReply } from './ca-connection.ts'
import { failureOfReply } from './ca-reply.ts'
import type { RevocationOutcome } from './certificate-authority.ts'

/** An answer about our token or the load, or from something before the CA: another day it may be another one. */
const PASSING_CLIENT_ERRORS: ReadonlySet<number> = new Set([401, 407, 408, 421, 425, 429])
const NOT_IMPLEMENTED = 501
const ALREADY_REVOKED = /\balready revoked\b/i

export function outcomeOfRevokeReply(reply: CaReply): RevocationOutcome {
  if (reply.status === 200 && saysOk(reply.body)) return { kind: 'revoked' }
  if (reply.status === 400 && ALREADY_REVOKED.test(reply.body)) return { kind: 'already_revoked' }
  const reason = failureOfReply(reply, 'revoke').message
  return isFinal(reply.status) ? { kind: 'refused', reason } : { kind: 'failed', reason }
}

function isFinal(status: number): boolean {
  const isClientError = status >= 400 && status < 500
  return status === NOT_IMPLEMENTED || (isClientError && !PASSING_CLIENT_ERRORS.has(status))
}

/** A page of something in front of the CA can have the status 200 too. */
function saysOk(body: string): boolean {
  try {
    return (JSON.parse(body) as { status?: unknown } | null)?.status === 'ok'
  } catch {
    // Not JSON: not the CA.
    return false
  }
}
