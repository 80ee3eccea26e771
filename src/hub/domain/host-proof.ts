// What a rule asks for whose hosts show a key that is trusted already; by method.

import { hash } from 'node:crypto'
import type { KnownHost } from '../../ssh/known-hosts.ts'
import type { TokenHash } from '../../protocol/identifiers.ts'

/** Rules of these methods are found by what a proof says it was made with. */
interface ProofByKey {
  /** What the tokens of its hosts are derived from; nobody has a text with this hash. */
  readonly useKey: TokenHash
  /** Each names a CA or a key that the rule trusts: `<method>:<SHA-256, hex>`. */
  readonly lookUpKeys: readonly string[]
}

/** A certificate that the host has, of one of these CAs. */
export interface CertificateProof extends ProofByKey {
  readonly method: 'x5c'
  /** DER in base64, roots or intermediates. */
  readonly authorities: readonly string[]
}

/** The host's own key of OpenSSH. */
export interface SshProof extends ProofByKey {
  readonly method: 'ssh'
  readonly hosts: readonly KnownHost[]
  /** Lines of which nothing counts. */
  readonly ignored: number
}

export type HostProof = CertificateProof | SshProof

/** Of a CA, by its name as a certificate has it, DER. */
export function lookUpKeyOfName(name: Uint8Array): string {
  return `x5c:${hash('sha256', name)}`
}

/** Why what a host shows is not what the rule asks for. */
export type ProofFault = 'signature' | 'certificate' | 'revoked' | 'proof_name'

/** Of a public key as OpenSSH encodes it. */
export function lookUpKeyOfSsh(blob: Uint8Array): string {
  return `ssh:${hash('sha256', blob)}`
}
