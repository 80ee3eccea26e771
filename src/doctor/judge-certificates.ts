// The lives of certificates. docs/protocol.md DOC-13, DOC-14.

import type { CertificateFacts } from '../protocol/admin/examination.ts'
import { fault, type Finding, ok, showAbout, skipped, warning } from './finding.ts'

const DAY_MS = 86_400_000
/** To replace a root all agents have to learn the next one first. */
const ROOT_WARNING_MS = 90 * DAY_MS
const INTERMEDIATE_WARNING_MS = 30 * DAY_MS
const ISSUER_ERROR_MS = 7 * DAY_MS
/** A hub renews in the last third of a life; half of that is over. */
const LATE_SHARE = 1 / 6
const MARGIN_WARNING_MS = 3_600_000

/** The hub's own. `names` are those that its settings give it. */
export function judgeOwnCertificate(
  { own }: Pick<CertificateFacts, 'own'>,
  names: readonly string[] | undefined,
  now: Date,
): Finding[] {
  if (own === null)
    return [skipped('the hub has no certificate yet: it asks the CA when it starts')]
  const [startMs, endMs] = [Date.parse(own.not_before), Date.parse(own.not_after)]
  const leftMs = endMs - now.getTime()
  const commands = ['journalctl -u svc-server -n 50 --no-pager']
  const remedy = 'the hub renews it by itself when it runs and its CA signs: see to these'
  if (leftMs <= 0) {
    const why = 'no agent trusts the hub, so none polls, reports or renews'
    return [fault(`the hub’s own certificate ended at ${own.not_after}`, { why, remedy, commands })]
  }
  const found: Finding[] = []
  if (startMs - now.getTime() > 60_000) {
    const why =
      'no agent trusts the hub before then; its clock was ahead when it got it, or is behind now'
    found.push(
      fault(`the hub’s own certificate begins at ${own.not_before}`, {
        why,
        remedy: 'set the clock',
        commands: ['date --utc'],
      }),
    )
  }
  if (leftMs < (endMs - startMs) * LATE_SHARE) {
    const why = 'it should have been renewed: when it ends no agent trusts the hub'
    const message = `the hub’s own certificate ends in ${showAbout(leftMs)}, at ${own.not_after}`
    found.push(warning(message, { why, remedy, commands }))
  }
  const missing = (names ?? []).filter((name) => !own.names.includes(name))
  if (missing.length > 0) {
    found.push(
      warning(`the hub’s own certificate lacks ${missing.join(', ')}`, {
        why: 'hosts that call the hub by that name do not trust it',
        remedy: 'the settings were changed since the hub got it: start the hub again',
        commands: ['systemctl restart svc-server'],
      }),
    )
  }
  return found.length > 0 ? found : [ok(`the hub’s own certificate is good until ${own.not_after}`)]
}

/** Roots and intermediates. */
export function judgeIssuers({ issuers }: Pick<CertificateFacts, 'issuers'>, now: Date): Finding[] {
  const found = issuers.flatMap(({ name, is_root, not_after }) => {
    const leftMs = Date.parse(not_after) - now.getTime()
    const what = `the ${is_root ? 'root' : 'intermediate'} ${name}`
    if (leftMs > (is_root ? ROOT_WARNING_MS : INTERMEDIATE_WARNING_MS)) return []
    const why = is_root
      ? 'nobody trusts anything below a root that has ended; every agent has to learn the next root before'
      : 'no certificate that it signed outlives it, and it cannot sign any more'
    const advice = is_root
      ? {
          why,
          remedy:
            'make the next root at the CA, and have the agents learn it now: “Rotate the CA’s root” in operations.md',
          commands: ['svc bundle status'],
        }
      : { why, remedy: 'renew the intermediate at the CA' }
    if (leftMs <= 0) return [fault(`${what} ended at ${not_after}`, advice)]
    const message = `${what} ends in ${showAbout(leftMs)}, at ${not_after}`
    return [(leftMs < ISSUER_ERROR_MS ? fault : warning)(message, advice)]
  })
  if (found.length > 0) return found
  const ends = issuers.map(({ not_after }) => not_after).sort()
  return [ok(`roots and intermediates are good until ${ends[0] ?? 'ever'}`)]
}

/** What the CA gives is known by what it gave the hub. An agent renews when the threshold or a third of the life is left. */
export function judgeLifetime(
  { own }: Pick<CertificateFacts, 'own'>,
  thresholdMs: number,
): Finding[] {
  if (own === null) return [skipped('the CA has not signed anything for this hub yet')]
  const lifeMs = Date.parse(own.not_after) - Date.parse(own.not_before)
  const marginMs = Math.min(thresholdMs, lifeMs / 3)
  const life = showAbout(lifeMs)
  if (marginMs >= MARGIN_WARNING_MS) {
    return [
      ok(`the CA gives certificates ${life}; agents renew when ${showAbout(marginMs)} are left`),
    ]
  }
  const isThreshold = marginMs === thresholdMs
  return [
    warning(
      `agents renew when only ${showAbout(marginMs)} are left of the ${life} that the CA gives`,
      {
        why: 'a hub or CA that is away for longer than that lets certificates end',
        remedy: isThreshold
          ? 'raise SVC_AGENT_RENEWAL_THRESHOLD of the agents, and SVC_RENEWAL_THRESHOLD of the hub with it'
          : 'have the CA give longer lives: defaultTLSCertDuration of its provisioner',
      },
    ),
  ]
}
