import type { AgentId } from '../../protocol/identifiers.ts'
import type { SignedSet } from '../../protocol/schemas.ts'

/** Where a set stands in the order of sets: by época first. */
export interface SetNumber {
  readonly epoch: number
  readonly number: number
}

/** The roots that hub and agents trust; one set follows another, and its number is greater, or its época. */
export interface RootSet extends SetNumber {
  /** The roots one after the other, PEM. */
  readonly pem: string
  readonly createdAt: Date
  /** Absent while no trust key signs the sets. */
  readonly trust?: SetTrust
}

/** Who vouches for a set besides the hub. docs/protocol.md TRK. */
export interface SetTrust {
  /** The key that the changes of `signed` begin with, as `<fleet>:<key>`. */
  readonly firstKey: string
  /** The key that signed the set. */
  readonly key: string
  readonly signed: SignedSet
}

/** What an agent said last of the roots that it trusts. */
export interface AgentTrust {
  readonly agentId: AgentId
  /** Null for one that has adopted no set yet. */
  readonly number: number | null
  /** SHA-256 of the DER, lower-case hex. */
  readonly fingerprints: readonly string[]
  /** What a file on the host says that the hub is trusted by; null without such a file. */
  readonly pinned: readonly string[] | null
  /** Why it did not adopt the set that it was offered. */
  readonly error: string | null
  readonly reportedAt: Date
}

/** One that is in use, or may be, by an agent or by a service on its host. */
export interface StandingCertificate {
  readonly agentId: AgentId
  readonly hostname: string
  /** Null for an identity. */
  readonly deliveryName: string | null
  readonly serial: string
  readonly notAfter: Date
  /** Null when it was obtained before that was kept. */
  readonly rootSha256: string | null
}
