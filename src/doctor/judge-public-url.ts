// Where hosts are told to enrol, when somebody said so: usually a proxy, whose certificate nobody here renews. docs/protocol.md DOC-24.

import { quoteForShell } from '../platform/quote-for-shell.ts'
import { fault, type Finding, ok, showAbout, warning } from './finding.ts'
import type { PublicUrlFacts } from './scene.ts'

const LATE_SHARE = 1 / 6

/** Undefined where nobody said so. */
export function judgePublicUrl(facts: PublicUrlFacts | undefined, now: Date): Finding[] {
  if (facts === undefined) return [ok('hosts enrol at the hub itself')]
  const { url, failure, certificate } = facts
  const commands = [
    `curl --silent --show-error --output /dev/null --write-out '%{http_code} %{ssl_verify_result}\\n' ${quoteForShell(url)}`,
  ]
  const why = 'hosts that are to enrol there, or to recover an identity, cannot'
  if (certificate === undefined) {
    return [
      warning(`this machine does not reach ${url}: ${failure}`, {
        why,
        remedy:
          'mend the proxy or the way to it; a network may also keep only this machine from its own outside',
        commands,
      }),
    ]
  }
  const { notBefore, notAfter } = certificate
  const leftMs = notAfter.getTime() - now.getTime()
  const until = notAfter.toISOString()
  const remedy = 'renew the certificate of the proxy'
  if (leftMs <= 0) {
    return [fault(`the certificate of ${url} ended at ${until}`, { why, remedy, commands })]
  }
  if (failure !== undefined) {
    return [
      warning(`neither the system’s roots nor the CA’s vouch for ${url}: ${failure}`, {
        why: `${why}, unless they are given its root with SVC_SERVER_CA_PATH`,
        remedy: 'give the proxy a certificate of that name, with its intermediates',
        commands,
      }),
    ]
  }
  if (leftMs < (notAfter.getTime() - notBefore.getTime()) * LATE_SHARE) {
    const message = `the certificate of ${url} ends in ${showAbout(leftMs)}, at ${until}`
    return [
      warning(message, {
        why: 'it should have been renewed: when it ends, no host can enrol there',
        remedy,
        commands,
      }),
    ]
  }
  return [ok(`${url} shows a certificate that is good until ${until}`)]
}
