// What a host says with its proof: whether it is said to this hub, of this request, and now. Pure. docs/protocol.md JNR-24.

import { hash } from 'node:crypto'
import { HostStatement, STATEMENT_LIFETIME_SECONDS_MAX } from '../../protocol/host-proof.ts'
import { Compile } from 'typebox/compile'
import { coversName } from './subject-alt-name.ts'

export type { HostStatement } from '../../protocol/host-proof.ts'

const validator = Compile(HostStatement)
/** Of the hub's clock and the host's. */
const CLOCK_TOLERANCE_SECONDS = 60

/** Undefined for what is no statement. */
export function parseStatement(bytes: Uint8Array): HostStatement | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return validator.Check(value) ? value : undefined
  } catch {
    return undefined
  }
}

export interface StatementFacts {
  readonly hubNames: readonly string[]
  readonly hostname: string
  readonly role: string
  /** Hex; undefined for a request without a CSR. */
  readonly csrSha256: string | undefined
  readonly now: Date
}

export interface StatementFault {
  readonly reason: 'statement' | 'lifetime'
  readonly detail: string
}

/** What needs no signature to be known. */
export function findStatementFault(
  { hubs, hostname, role, csr_sha256, iat, exp }: HostStatement,
  facts: StatementFacts,
): StatementFault | undefined {
  const other = (what: string) => ({ reason: 'statement', detail: `for another ${what}` }) as const
  const isOwn = (hub: string): boolean => facts.hubNames.some((name) => coversName(name, hub))
  if (!hubs.some(isOwn)) return other('hub')
  if (hostname !== facts.hostname) return other('host')
  if (role !== facts.role) return other('role')
  if (csr_sha256 !== facts.csrSha256) return other('certificate request')
  const late = (detail: string) => ({ reason: 'lifetime', detail }) as const
  const seconds = facts.now.getTime() / 1000
  if (exp <= iat || exp - iat > STATEMENT_LIFETIME_SECONDS_MAX) {
    return late(`not made for at most ${STATEMENT_LIFETIME_SECONDS_MAX} seconds`)
  }
  if (exp + CLOCK_TOLERANCE_SECONDS <= seconds) return late('over')
  return iat - CLOCK_TOLERANCE_SECONDS > seconds ? late('to come') : undefined
}

/** The same for each proof that a host makes of one request, so that it may ask again. */
export function useIdOf({ hostname, role, csr_sha256 }: HostStatement): string {
  return hash('sha256', `cartorio host proof v1\0${hostname}\0${role}\0${csr_sha256}`)
}
