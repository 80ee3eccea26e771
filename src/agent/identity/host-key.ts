// What this host shows in place of a token: that it has a key which the hub's operators trust already. Each proof is for one request to
// one hub, and for five minutes. docs/protocol.md JNR-23.

import { hash } from 'node:crypto'
import type { HostStatement } from '../../protocol/host-proof.ts'

export interface HostKey {
  readonly method: 'x5c' | 'ssh'
  /** The token of an enrolment. */
  prove(statement: Uint8Array): Promise<string>
}

export interface StatementFacts {
  /** By which this host knows the hub. */
  readonly hubs: readonly string[]
  readonly hostname: string
  readonly role: string
  readonly csrDer: Buffer
  /** By the hub's clock. */
  readonly now: Date
}

const LIFETIME_SECONDS = 240
/** In case this host has what is only nearly the hub's clock. */
const EARLIER_SECONDS = 20

export function createStatement({ hubs, hostname, role, csrDer, now }: StatementFacts): Buffer {
  const iat = Math.floor(now.getTime() / 1000) - EARLIER_SECONDS
  const statement: HostStatement = {
    hubs: [...new Set(hubs)],
    hostname,
    role,
    csr_sha256: hash('sha256', csrDer, 'hex'),
    iat,
    exp: iat + LIFETIME_SECONDS,
  }
  return Buffer.from(JSON.stringify(statement))
}

/** As a certificate has it. */
export function hubNameOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}
