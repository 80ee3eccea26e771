import { formatDurationMs } from '../../../platform/durations.ts'
import type { CaError } from '../../ca/certificate-authority.ts'
import type { HostRules } from '../../domain/host-rules.ts'

/** For the log, beside what the CA said: a CA that refuses may do so because of the life that a policy asks for. */
export function describeLifetime(
  { certTtlPolicy, certTtlSeconds }: Pick<HostRules, 'certTtlPolicy' | 'certTtlSeconds'>,
  { reason }: CaError,
): { readonly politica?: string | undefined; readonly cert_ttl?: string; readonly hint?: string } {
  if (certTtlSeconds === undefined) return {}
  const asked = { politica: certTtlPolicy, cert_ttl: formatDurationMs(certTtlSeconds * 1000) }
  if (reason !== 'refused') return asked
  return { ...asked, hint: 'the claims of the CA’s provisioner bound the cert_ttl of a politica' }
}
