// What clients asked a hub to write, and what it said that it had written.

import type { KeyAndCsr } from '../../test/support/enrolled-host.ts'

/** A token for a host, and the host's enrolment with it. */
export interface HostWrites {
  readonly hostname: string
  /** Undefined until the token was acknowledged; one that was not is lost, for nobody has its text. */
  token?: string
  tokenId?: string
  /** Made once, so that an enrolment without an answer is asked for again in the same words. */
  csr?: KeyAndCsr
  /** Set when the enrolment was acknowledged. */
  agentId?: string
  certPem?: string
}

export interface EventWrite {
  readonly requestId: string
  readonly hostname: string
  readonly number: number
  /** Set when the event was acknowledged. */
  reply?: { readonly id: string; readonly hash: string }
}

export class WriteJournal {
  readonly hosts = new Map<string, HostWrites>()
  readonly events = new Map<string, EventWrite>()
  /** Hosts with a token and without an enrolment that somebody works on. */
  readonly waitingToEnrol: HostWrites[] = []
  /** Hosts with an identity. */
  readonly enrolled: HostWrites[] = []
  /** Events without an answer that nobody works on. */
  readonly unanswered: EventWrite[] = []
  /** What the hub should never have answered. */
  readonly surprises: string[] = []
  caPem = ''
  acknowledged = 0
  /** Writes that a dying hub left without an answer. */
  lost = 0
  #serial = 0
  #onAcknowledged: () => void = () => undefined

  nextHost(): HostWrites {
    this.#serial += 1
    const host: HostWrites = { hostname: `h${this.#serial}.example` }
    this.hosts.set(host.hostname, host)
    return host
  }

  nextEvent(hostname: string): EventWrite {
    this.#serial += 1
    const event: EventWrite = { requestId: `r${this.#serial}`, hostname, number: this.#serial }
    this.events.set(event.requestId, event)
    return event
  }

  noteAcknowledged(): void {
    this.acknowledged += 1
    this.#onAcknowledged()
  }

  /** Resolves at the instant when so many more writes were acknowledged. */
  afterAcknowledged(more: number): Promise<void> {
    const goal = this.acknowledged + more
    return new Promise((resolve) => {
      this.#onAcknowledged = () => {
        if (this.acknowledged >= goal) resolve()
      }
    })
  }
}
