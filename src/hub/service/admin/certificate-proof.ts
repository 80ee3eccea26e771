// What a rule of method x5c asks for, on its way in and out. docs/protocol.md JNR-26.

import { randomBytes, X509Certificate } from 'node:crypto'
import { readCertificateNames } from '../../../pki/certificate-fields.ts'
import { type Certificate, fromX509, parseCertificatesPem } from '../../../pki/certificates.ts'
import { findAuthorityFault } from '../../../pki/host-chain.ts'
import { type AdminAuthorities, CA_CHARACTERS_MAX } from '../../../protocol/admin/join-methods.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import { hashToken } from '../../domain/hash-token.ts'
import { type CertificateProof, lookUpKeyOfName } from '../../domain/host-proof.ts'
import type { StoreReader } from '../../store/store.ts'
import { AdminRefusal } from '../admin-act.ts'
import { refuseManyRules } from './refuse-many-rules.ts'

export const AUTHORITIES_MAX = 16

/** Throws an AdminRefusal on what no host's certificate could lead to. */
export async function parseCertificateProof(
  reader: StoreReader,
  { ca }: NonNullable<AdminRequest<'createJoinRule'>['x5c']>,
): Promise<CertificateProof> {
  if (ca.length > CA_CHARACTERS_MAX) {
    const fault = `the CAs have more than ${CA_CHARACTERS_MAX} characters`
    throw new AdminRefusal('ca_invalid', fault)
  }
  const authorities = readAuthorities(ca, AUTHORITIES_MAX)
  const lookUpKeys = authorities.map(({ x509 }) => {
    const subject = readCertificateNames(x509.raw)?.subject
    return lookUpKeyOfName(subject ?? Buffer.alloc(0))
  })
  await refuseManyRules(reader, lookUpKeys)
  return {
    method: 'x5c',
    useKey: hashToken(randomBytes(32).toString('base64url')),
    lookUpKeys,
    authorities: authorities.map(({ x509 }) => x509.raw.toString('base64')),
  }
}

export function readAuthorities(ca: string, authoritiesMax: number): Certificate[] {
  let authorities: Certificate[]
  try {
    authorities = parseCertificatesPem(ca)
  } catch {
    throw new AdminRefusal('ca_invalid', 'a certificate of the CAs cannot be read')
  }
  if (authorities.length === 0 || authorities.length > authoritiesMax) {
    throw new AdminRefusal('ca_invalid', `the CAs are not 1 to ${authoritiesMax} certificates, PEM`)
  }
  for (const certificate of authorities) {
    const fault = findAuthorityFault(certificate)
    if (fault === undefined) continue
    throw new AdminRefusal(
      'ca_invalid',
      `${subjectOf(certificate)} cannot be trusted for hosts: ${fault}`,
    )
  }
  return authorities
}

/** In one line. Node has no text at all for an empty one. */
function subjectOf({ x509 }: Certificate): string {
  const subject: string | undefined = x509.subject
  return (subject ?? 'a certificate without a subject').replaceAll('\n', ', ').slice(0, 256)
}

export function toAdminAuthorities({
  authorities,
}: Pick<CertificateProof, 'authorities'>): AdminAuthorities {
  return {
    authorities: authorities.map((text) => {
      const certificate = fromX509(new X509Certificate(Buffer.from(text, 'base64')))
      const { sha256, notAfter } = certificate
      return { subject: subjectOf(certificate), sha256, not_after: notAfter.toISOString() }
    }),
  }
}
