import type { WireErrorCode } from '../../protocol/errors.ts'
import type { Agent } from './agent.ts'
import type { IssuedCertificate } from './issued-certificate.ts'

/**
 * Looked at once more at the commit, since the request took its time. A certificate that a newer identity replaced may
 * still be used for a minute, but not for what makes its holder the agent (`isForIdentity`), a newer identity or
 * another recipient: it would be the rightful host's that is superseded.
 */
export function findPresentedFault(
  agent: Agent,
  presented: IssuedCertificate | undefined,
  { isForIdentity }: { readonly isForIdentity: boolean },
): WireErrorCode | undefined {
  if (presented === undefined) return undefined
  if (presented.revokedAt !== null) return 'agent_revoked'
  const isOlder = agent.activeIdentity !== null && presented.seq < agent.activeIdentity.seq
  return isForIdentity && isOlder ? 'certificate_superseded' : undefined
}
