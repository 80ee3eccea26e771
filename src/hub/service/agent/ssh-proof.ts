// Method ssh: an SSHSIG by the host's own key of OpenSSH, which operators know from known_hosts or a CA has certified.
// docs/protocol.md JNR-27, JNR-28.

import { printableExtract } from '../../../platform/printable.ts'
import { SSH_PROOF_NAMESPACE } from '../../../protocol/host-proof.ts'
import {
  findHostCertificateFault,
  type HostCertificate,
  parseHostCertificate,
} from '../../../ssh/host-certificate.ts'
import { isNamed, type KnownHost } from '../../../ssh/known-hosts.ts'
import { fingerprintOf } from '../../../ssh/public-key.ts'
import { parseSshsig, verifySshsig } from '../../../ssh/sshsig.ts'
import { lookUpKeyOfSsh } from '../../domain/host-proof.ts'
import { parseStatement } from '../../domain/host-statement.ts'
import type { ProofVerdict, ReadProof } from './proof-joins.ts'

export const readSshProof: ReadProof = (parts) => {
  const [message, signature, third] = parts.map((part) => Buffer.from(part, 'base64url'))
  if (message === undefined || signature === undefined || parts.length > 3) return undefined
  const statement = parseStatement(message)
  const sshsig = parseSshsig(signature)
  const certificate = third && parseHostCertificate(third)
  if (statement === undefined || sshsig === undefined) return undefined
  if (third !== undefined && certificate === undefined) return undefined
  const { blob } = sshsig.key
  const vouching = [blob, ...(certificate ? [certificate.authorityBlob] : [])]
  const shown = { key: blob, certificate, findCertificateFault: checkOnce() }
  return {
    statement,
    lookUpKeys: vouching.map(lookUpKeyOfSsh),
    findSignatureFault: () => {
      if (sshsig.namespace !== SSH_PROOF_NAMESPACE) return 'signed for another purpose'
      return verifySshsig(sshsig, message) ? undefined : 'not signed by the key'
    },
    judge: ({ proof }, at) => {
      const hosts = proof.method === 'ssh' ? proof.hosts : []
      return judgeKey(hosts, shown, at)
    },
  }
}

interface ShownKey {
  readonly key: Buffer
  readonly certificate: HostCertificate | undefined
  readonly findCertificateFault: typeof findHostCertificateFault
}

/** For one certificate, at one time: what was verified for one rule is known for the others. */
function checkOnce(): typeof findHostCertificateFault {
  let checked: { readonly fault: string | undefined } | undefined
  return (certificate, now) =>
    (checked ??= { fault: findHostCertificateFault(certificate, now) }).fault
}

/** Named in known_hosts it needs no certificate; revoked there, none helps. */
function judgeKey(
  hosts: readonly KnownHost[],
  { key, certificate, findCertificateFault }: ShownKey,
  at: { readonly hostname: string; readonly now: Date },
): ProofVerdict {
  const of = (kind: KnownHost['kind'], blob: Buffer): KnownHost[] => {
    const text = blob.toString('base64')
    return hosts.filter((host) => host.kind === kind && host.key === text)
  }
  if (of('revoked', key).length > 0) return refuse('revoked', 'a key that is revoked')
  const own = of('key', key)
  const said = { ssh_key: fingerprintOf(key) }
  if (own.some((host) => isNamed(host, at.hostname))) return { ok: true, said }
  const elsewhere = refuse('proof_name', 'the key of another host')
  if (certificate === undefined) return elsewhere
  const { authorityBlob, keyId, serial } = certificate
  // Whatever a rule says of the CA.
  const disprove = (detail: string): ProofVerdict => {
    return { ...refuse('certificate', detail), disproved: lookUpKeyOfSsh(authorityBlob) }
  }
  if (!certificate.keyBlob.equals(key)) return disprove('the certificate of another key')
  if (of('revoked', authorityBlob).length > 0) return refuse('revoked', 'a CA that is revoked')
  const authorities = of('authority', authorityBlob)
  if (authorities.length === 0) {
    return own.length > 0 ? elsewhere : refuse('certificate', 'a CA that the rule does not trust')
  }
  const fault = findCertificateFault(certificate, at.now)
  if (fault !== undefined) return disprove(fault)
  if (!certificate.principals.includes(at.hostname)) {
    return refuse('proof_name', 'not among the principals of the certificate')
  }
  if (!authorities.some((host) => isNamed(host, at.hostname))) {
    return refuse('proof_name', 'not a host that the CA is trusted for')
  }
  const authority = { ssh_ca: fingerprintOf(authorityBlob), ssh_serial: serial.toString() }
  return { ok: true, said: { ...said, ...authority, ssh_key_id: printableExtract(keyId, 64) } }
}

function refuse(
  fault: 'certificate' | 'proof_name' | 'revoked',
  detail: string,
): Extract<ProofVerdict, { ok: false }> {
  return { ok: false, fault, detail }
}
