// What a client noted of one request to one hub of several: when it was sent, when it was answered, and what the answer was.

export type OperationKind = 'event' | 'token' | 'enrol' | 'issue' | 'revoke' | 'poll' | 'stream'

/** `unknown` is no answer, and a 503: the write may be there or not. */
export type Outcome = 'acknowledged' | 'refused' | 'unknown'

export interface Operation {
  readonly kind: OperationKind
  /** What it was about: each host has one token and one enrolment. */
  readonly hostname: string
  /** The same for all requests that ask for one thing: a request_id, an id of a token, a fingerprint of a CSR. */
  readonly key: string
  /** From 0. */
  readonly hub: number
  /** By the clock of the clients. Of a stream: when it was asked for. */
  readonly startMs: number
  /** Of a stream: when it was closed, Infinity for one that is open still. */
  readonly endMs: number
  readonly outcome: Outcome
  /** What was acknowledged: the hash of an event's entry, the id of a token, the SHA-256 of a certificate. */
  readonly answer?: string
}

export interface Entry {
  readonly seq: number
  readonly tipo_evento: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly payload_text: string
  readonly request_id: string | null
  readonly timestamp: string
  readonly hash_anterior: string
  readonly hash_atual: string
}

/** What the vaults hold when all is over. */
export interface FinalState {
  /** The log as the journal has it, and as each hub has it. */
  readonly log: readonly Entry[]
  readonly logsOfHubs: readonly (readonly Entry[])[]
  readonly consumedTokens: ReadonlySet<string>
  readonly enrolledHosts: ReadonlySet<string>
}
