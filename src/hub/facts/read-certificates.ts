// The lives of the certificates that a hub stands on: its own, and those that vouch for it. docs/protocol.md DOC-14.

import {
  type Certificate,
  parseCertificatesPem,
  subjectAltNamesOf,
} from '../../pki/certificates.ts'
import type { CertificateFacts } from '../../protocol/admin/examination.ts'

/** `chainPem` is the hub's leaf and the intermediates; undefined when it has none yet. */
export function describeCertificates(
  chainPem: string | undefined,
  rootPem: string,
): CertificateFacts {
  const [leaf, ...rest] = chainPem === undefined ? [] : parseCertificatesPem(chainPem)
  const roots = parseCertificatesPem(rootPem)
  const isKnown = new Set(roots.map(({ sha256 }) => sha256))
  const intermediates = rest.filter(({ sha256 }) => !isKnown.has(sha256))
  const issuer = (is_root: boolean) => (certificate: Certificate) => ({
    name: nameOf(certificate),
    is_root,
    not_after: certificate.notAfter.toISOString(),
  })
  return {
    own:
      leaf === undefined
        ? null
        : {
            not_before: leaf.notBefore.toISOString(),
            not_after: leaf.notAfter.toISOString(),
            names: subjectAltNamesOf(leaf),
          },
    issuers: [...roots.map(issuer(true)), ...intermediates.map(issuer(false))],
  }
}

function nameOf({ commonName, sha256 }: Certificate): string {
  return commonName ?? `SHA256:${sha256.slice(0, 16)}`
}
