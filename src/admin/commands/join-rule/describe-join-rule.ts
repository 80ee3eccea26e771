import { formatDurationMs } from '../../../platform/durations.ts'
import type { AdminJoinRule, AdminWorkload } from '../../../protocol/admin/join-rules.ts'
import { showLabels } from '../hosts/label-option.ts'
import { stateWord } from '../../terminal/table.ts'

/** What a person reads of a rule. */
export function describeJoinRule(rule: AdminJoinRule) {
  const { id, name, method, pattern, role, labels, expires_at, ended_at } = rule
  return {
    id,
    name,
    method,
    ...describeWorkload(rule.jwt ?? null),
    pattern,
    role,
    labels: showLabels(labels),
    state: stateWord(rule.state),
    hosts: hostsOf(rule),
    expires_at,
    ended_at,
    silent_seconds: silenceOf(rule),
  }
}

/** What a token has to say; nothing for a rule that has a token of its own, also of a hub that knows no other. */
function describeWorkload(jwt: AdminWorkload | null): Readonly<Record<string, string>> {
  if (jwt === null) return {}
  const claims = jwt.claims.map(({ claim, values }) => `${claim}=${values.join('|')}`)
  return {
    issuer: jwt.issuer,
    audience: jwt.audience,
    claims: claims.join(', '),
    ...(jwt.hostname_claim !== null && { hostname_claim: jwt.hostname_claim }),
    ...(jwt.jwks_url !== null && { jwks_url: jwt.jwks_url }),
  }
}

/** Of how many: `3/40`. */
export function hostsOf({ hosts, hosts_max }: AdminJoinRule): string {
  return `${hosts}/${hosts_max}`
}

export function silenceOf({ silent_seconds }: AdminJoinRule): string | null {
  return silent_seconds === null ? null : formatDurationMs(silent_seconds * 1000)
}
