// Every bound on what reaches the hub from outside, each with a variable; 0 lifts it.

export interface Limit {
  readonly variable: string
  readonly default: number
  readonly unit: string
  readonly meaning: string
}

export const HUB_LIMITS = {
  bodyBytes: {
    variable: 'SVC_LIMIT_BODY',
    default: 64 * 1024,
    unit: 'bytes',
    meaning: 'A request body.',
  },
  csrBytes: {
    variable: 'SVC_LIMIT_CSR',
    default: 16 * 1024,
    unit: 'bytes',
    meaning: 'A certificate request, PEM.',
  },
  eventPayloadBytes: {
    variable: 'SVC_LIMIT_EVENT_PAYLOAD',
    default: 16 * 1024,
    unit: 'bytes',
    meaning: 'The payload of an event.',
  },
  jsonDepth: {
    variable: 'SVC_LIMIT_JSON_DEPTH',
    default: 32,
    unit: 'levels',
    meaning: 'Nested objects and arrays of a body.',
  },
  headersSeconds: {
    variable: 'SVC_LIMIT_HEADERS_SECONDS',
    default: 10,
    unit: 'seconds',
    meaning: 'From the first byte of a request to the end of its headers.',
  },
  requestSeconds: {
    variable: 'SVC_LIMIT_REQUEST_SECONDS',
    default: 15,
    unit: 'seconds',
    meaning: 'From the first byte of a request to its last.',
  },
  responseSeconds: {
    variable: 'SVC_LIMIT_RESPONSE_SECONDS',
    default: 30,
    unit: 'seconds',
    meaning: 'How long a client may read nothing of an answer.',
  },
  handshakeSeconds: {
    variable: 'SVC_LIMIT_HANDSHAKE_SECONDS',
    default: 5,
    unit: 'seconds',
    meaning: 'A TLS handshake.',
  },
  connections: {
    variable: 'SVC_LIMIT_CONNECTIONS',
    default: 16_384,
    unit: 'connections',
    meaning: 'Open connections of one port.',
  },
  connectionsPerAddress: {
    variable: 'SVC_LIMIT_CONNECTIONS_PER_ADDRESS',
    default: 4096,
    unit: 'connections',
    meaning: 'Open connections of one port from one address.',
  },
  handshakesPerAddress: {
    variable: 'SVC_LIMIT_HANDSHAKES_PER_ADDRESS',
    default: 100,
    unit: 'handshakes',
    meaning: 'TLS handshakes under way from one address.',
  },
  enrollFailuresPerMinute: {
    variable: 'SVC_LIMIT_ENROLL_FAILURES',
    default: 60,
    unit: 'a minute',
    meaning: 'Unknown tokens, and bodies without a token, from one address.',
  },
  adminFailuresPerMinute: {
    variable: 'SVC_LIMIT_ADMIN_FAILURES',
    default: 60,
    unit: 'a minute',
    meaning: 'Refusals of the admin port, for the token or its role, to one address.',
  },
  eventsPerSecond: {
    variable: 'SVC_LIMIT_EVENTS',
    default: 10,
    unit: 'a second',
    meaning: 'Events of one agent; bursts of ten times as many.',
  },
  eventBytesPerDay: {
    variable: 'SVC_LIMIT_EVENT_BYTES',
    default: 64 * 1024 * 1024,
    unit: 'bytes a day',
    meaning: 'What the events of one agent may add to the log; a whole day’s worth at once.',
  },
  proofsPerMinute: {
    variable: 'SVC_LIMIT_PROOFS',
    default: 12,
    unit: 'a minute',
    meaning: 'Proofs of the audit log for one agent; bursts of five times as many.',
  },
  issuesPerSecond: {
    variable: 'SVC_LIMIT_ISSUE',
    default: 1,
    unit: 'a second',
    meaning: 'Certificates of one agent; bursts of 300 times as many.',
  },
  freeSpaceBytes: {
    variable: 'SVC_LIMIT_FREE_SPACE',
    default: 64 * 1024 * 1024,
    unit: 'bytes',
    meaning:
      'Free space of the vault’s file system. Below it each agent may add only a few events; below half of it the hub refuses events, so that renewals continue.',
  },
  backupHeldBytes: {
    variable: 'SVC_LIMIT_BACKUP_HELD',
    default: 256 * 1024 * 1024,
    unit: 'bytes',
    meaning:
      'What the write-ahead log may hold while a backup is made; the hub gives up the backup beyond it.',
  },
} as const satisfies Readonly<Record<string, Limit>>

/** `Number.POSITIVE_INFINITY` where a limit is lifted. */
export type HubLimits = Readonly<Record<keyof typeof HUB_LIMITS, number>>

export const DEFAULT_HUB_LIMITS: HubLimits = limitsFrom((limit) => limit.default)

/** One number for each limit of the table. */
export function limitsFrom(valueOf: (limit: Limit) => number): HubLimits {
  const entries = Object.entries(HUB_LIMITS).map(([name, limit]) => [name, valueOf(limit)])
  // It has the keys of the table that it was made from.
  return Object.fromEntries(entries) as HubLimits
}
