// The OpenID provider by which people sign in. docs/protocol.md DOC-31.

import type { OpenidFacts } from '../protocol/admin/examination.ts'
import { quoteForShell } from '../platform/quote-for-shell.ts'
import { type Finding, ok, warning } from './finding.ts'

export function judgeOpenid(facts: OpenidFacts | undefined): Finding[] {
  if (facts === undefined) return [ok('no OpenID provider is set')]
  const { issuer, reason, is_console_reached: isConsoleReached } = facts
  const findings: Finding[] = []
  if (reason !== null) {
    const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    findings.push(
      warning(`${issuer}: ${reason}`, {
        why: 'nobody can sign in by the provider; admin tokens and links still work',
        remedy:
          'see that the provider is there, and that SVC_OIDC_ISSUER and SVC_OIDC_CA_PATH are right',
        commands: [`curl --silent --show-error --max-time 5 ${quoteForShell(url)}`],
      }),
    )
  }
  if (!isConsoleReached) {
    findings.push(
      warning('only svc login can use the OpenID provider, and the console cannot', {
        why: 'the provider sends a browser back to SVC_CONSOLE_URL',
        remedy:
          'set SVC_CONSOLE_URL to where browsers reach the console, such as https://hub.example.org:8445/console',
      }),
    )
  }
  return findings.length > 0 ? findings : [ok(`${issuer} answers`)]
}
