// What docs/protocol.md REV promises: exactly the certificates of revoked agents are revoked at the CA, and the log says
// so of what the CA has done, once.

import type { AuditEntry } from '../../../src/hub/domain/audit-entry.ts'
import type { EntryReader, Payload } from './contract-model.ts'
import { demand } from './demand.ts'

interface Issued {
  readonly agentId: string
  readonly notAfterMs: number
  isRevoked: boolean
}

export class RevocationModel implements EntryReader {
  /** Those that the CA was asked for, and has revoked. */
  readonly #done: ReadonlySet<string>
  readonly #issued = new Map<string, Issued>()
  readonly #recorded = new Set<string>()
  readonly #refused = new Set<string>()

  constructor(done: ReadonlySet<string>) {
    this.#done = done
  }

  add({ eventType }: AuditEntry, payload: Payload): void {
    const agentId = String(payload['agente_id'])
    const serial = String(payload['serial'])
    if (eventType === 'certificate_issued' || eventType === 'identity_taken_back') {
      const notAfterMs = Date.parse(String(payload['not_after']))
      this.#issued.set(serial, { agentId, notAfterMs, isRevoked: false })
    }
    if (eventType === 'agent_revoked') {
      for (const issued of this.#issued.values()) {
        if (issued.agentId === agentId) issued.isRevoked = true
      }
    }
    if (eventType === 'certificate_not_revoked_at_ca') this.#refused.add(serial)
    if (eventType !== 'certificate_revoked_at_ca') return
    demand(this.#done.has(serial), '[REV-7] recorded, and not revoked at the CA:', serial)
    demand(!this.#recorded.has(serial), '[REV-7] recorded twice:', serial)
    this.#recorded.add(serial)
  }

  beginAgain(): void {
    for (const known of [this.#issued, this.#recorded, this.#refused]) known.clear()
  }

  /** [REV-1] The log has been read up to now. */
  checkAsked(serial: string): void {
    const isRevoked = this.#issued.get(serial)?.isRevoked === true
    demand(isRevoked, '[REV-1] the CA is asked to revoke what is not revoked here:', serial)
  }

  /** [REV-1] [REV-2] [REV-5] */
  findTrouble(now: Date): string | undefined {
    for (const [serial, { isRevoked, notAfterMs }] of this.#issued) {
      const isOver = this.#recorded.has(serial) || this.#refused.has(serial)
      if (isRevoked && notAfterMs > now.getTime() && !isOver) {
        return `${serial} is not revoked at the CA`
      }
    }
    return undefined
  }
}
