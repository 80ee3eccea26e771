// Judges what clients saw of several hubs on one journal against the log that is left: nothing acknowledged is lost or doubled, the log is one
// chain in the order in which things happened, a token opens once, a revocation counts everywhere at once, and what nobody was told of is there whole or not at all.

import { ChainVerifier } from '../../src/audit/hash-chain.ts'
import type { Entry, FinalState, Operation, OperationKind } from './operation.ts'

export type ViolationKind =
  | 'lost'
  | 'doubled'
  | 'changed'
  | 'chain'
  | 'order'
  | 'token'
  | 'revocation'
  | 'half'
  | 'apart'

export interface Violation {
  readonly kind: ViolationKind
  readonly text: string
}

/** How long a stream may outlive its agent's revocation. */
const STREAM_MS_MAX = 1000

export function checkHistory(
  operations: readonly Operation[],
  state: FinalState,
): readonly Violation[] {
  const log = indexLog(state.log)
  const acts = gatherActs(operations)
  return [
    ...findBrokenChain(state.log),
    ...findLogsApart(state),
    ...findDoubled(state.log),
    ...findLost(acts, log),
    ...findOutOfOrder(acts, log),
    ...findTokensUsedTwice(operations),
    ...findServedRevoked(operations),
    ...findHalves(state, log),
  ]
}

type LogIndex = ReadonlyMap<string, Entry>

const ENTRY_TYPES = {
  token: 'token_created',
  enrol: 'agent_enrolled',
  revoke: 'agent_revoked',
} as const satisfies Partial<Record<OperationKind, string>>

/** Each entry by what a client knows of it. */
function indexLog(entries: readonly Entry[]): LogIndex {
  return new Map(entries.map((entry) => [nameOf(entry), entry]))
}

function nameOf({ request_id: requestId, tipo_evento: type, payload }: Entry): string {
  if (requestId !== null) return `event ${requestId}`
  if (type === 'certificate_issued') return `certificate ${String(payload['sha256'])}`
  return `${type} ${String(payload['hostname'])}`
}

/** One thing that a client asked for, however often. */
interface Act {
  readonly kind: OperationKind
  readonly what: string
  /** Its entry. */
  readonly entryName: string
  /** Of the first request. */
  readonly startMs: number
  /** Of the first answer that acknowledged it. */
  readonly endMs: number
  readonly answer: string | undefined
}

/** What was acknowledged and belongs into the log. */
function gatherActs(operations: readonly Operation[]): readonly Act[] {
  const asked = Map.groupBy(
    operations.filter(({ kind }) => kind !== 'poll' && kind !== 'stream'),
    ({ kind, key }) => `${kind} ${key}`,
  )
  return [...asked].flatMap(([what, requests]) => {
    const answered = requests.filter(({ outcome }) => outcome === 'acknowledged')
    const [first] = answered.toSorted((one, other) => one.endMs - other.endMs)
    if (first === undefined) return []
    const { kind, hostname, endMs, answer } = first
    const startMs = Math.min(...requests.map((request) => request.startMs))
    const entryName = entryNameOf(first)
    return [{ kind, what: `${what} of ${hostname}`, entryName, startMs, endMs, answer }]
  })
}

function entryNameOf({ kind, key, hostname, answer }: Operation): string {
  if (kind === 'event') return `event ${key}`
  if (kind === 'issue') return `certificate ${answer}`
  return `${ENTRY_TYPES[kind as keyof typeof ENTRY_TYPES]} ${hostname}`
}

function findBrokenChain(entries: readonly Entry[]): readonly Violation[] {
  const verifier = new ChainVerifier()
  for (const entry of entries) {
    verifier.add({
      seq: entry.seq,
      payloadText: entry.payload_text,
      timestamp: entry.timestamp,
      previousHash: entry.hash_anterior,
      hash: entry.hash_atual,
    })
  }
  const { fault } = verifier
  return fault === undefined ? [] : [{ kind: 'chain', text: `entry ${fault.seq}: ${fault.reason}` }]
}

/** A hub may be behind; it has nothing else. */
function findLogsApart({ log, logsOfHubs }: FinalState): readonly Violation[] {
  return logsOfHubs.flatMap((entries, hub) => {
    const apart = entries.find(({ seq, hash_atual: hash }) => log[seq - 1]?.hash_atual !== hash)
    if (apart === undefined) return []
    return [{ kind: 'apart', text: `hub ${hub + 1} has another entry ${apart.seq}` }]
  })
}

function findDoubled(entries: readonly Entry[]): readonly Violation[] {
  const once = entries.filter(
    ({ request_id: requestId, tipo_evento: type }) =>
      requestId !== null ||
      type === 'certificate_issued' ||
      Object.values<string>(ENTRY_TYPES).includes(type),
  )
  return [...Map.groupBy(once, nameOf)]
    .filter(([, same]) => same.length > 1)
    .map(([name, same]) => ({
      kind: 'doubled',
      text: `${name} is entries ${same.map(({ seq }) => seq).join(', ')}`,
    }))
}

function findLost(acts: readonly Act[], log: LogIndex): readonly Violation[] {
  return acts.flatMap(({ kind, what, entryName, answer }): readonly Violation[] => {
    const entry = log.get(entryName)
    if (entry === undefined) return [{ kind: 'lost', text: `${what} was acknowledged` }]
    const isChanged = kind === 'event' && entry.hash_atual !== answer
    if (!isChanged) return []
    return [{ kind: 'changed', text: `${what} is entry ${entry.seq}, of another hash` }]
  })
}

/** What was over before something else began stands before it. */
function findOutOfOrder(acts: readonly Act[], log: LogIndex): readonly Violation[] {
  const placed = acts.flatMap((act) => {
    const entry = log.get(act.entryName)
    return entry === undefined ? [] : [{ ...act, seq: entry.seq }]
  })
  const byEnd = placed.toSorted((one, other) => one.endMs - other.endMs)
  const violations: Violation[] = []
  let last: (typeof placed)[number] | undefined
  let over = 0
  for (const act of placed.toSorted((one, other) => one.startMs - other.startMs)) {
    for (; (byEnd[over]?.endMs ?? Infinity) < act.startMs; over += 1) {
      const ended = byEnd[over]
      if (ended !== undefined && ended.seq > (last?.seq ?? 0)) last = ended
    }
    if (last === undefined || last.seq < act.seq) continue
    const text = `${act.what} is entry ${act.seq}, and ${last.what}, which was over before, entry ${last.seq}`
    violations.push({ kind: 'order', text })
  }
  return violations
}

/** A repeated answer has the same certificate in it. */
function findTokensUsedTwice(operations: readonly Operation[]): readonly Violation[] {
  const uses = operations.filter(
    ({ kind, outcome }) => kind === 'enrol' && outcome === 'acknowledged',
  )
  return [...Map.groupBy(uses, ({ hostname }) => hostname)].flatMap(([hostname, same]) => {
    const certificates = new Set(same.map(({ answer }) => answer))
    if (certificates.size < 2) return []
    return [{ kind: 'token', text: `the token of ${hostname} opened ${certificates.size} times` }]
  })
}

function findServedRevoked(operations: readonly Operation[]): readonly Violation[] {
  const revokedAtMs = new Map<string, number>()
  for (const { kind, hostname, outcome, endMs } of operations) {
    if (kind !== 'revoke' || outcome !== 'acknowledged') continue
    revokedAtMs.set(hostname, Math.min(endMs, revokedAtMs.get(hostname) ?? Infinity))
  }
  return operations.flatMap((operation) => {
    const { kind, hostname, outcome, hub, startMs, endMs } = operation
    const atMs = revokedAtMs.get(hostname)
    if (atMs === undefined || kind === 'revoke' || outcome !== 'acknowledged') return []
    const isLate = startMs > atMs
    const isLong = kind === 'stream' && endMs > atMs + STREAM_MS_MAX
    if (!isLate && !isLong) return []
    const latenessMs = Math.round((isLate ? startMs : endMs) - atMs)
    const text = `${hostname}, revoked: hub ${hub + 1} served a ${kind} ${latenessMs} ms later`
    return [{ kind: 'revocation', text }]
  })
}

/** An enrolment is an agent, a certificate, a spent token and two entries, or nothing. */
function findHalves(state: FinalState, log: LogIndex): readonly Violation[] {
  const { consumedTokens, enrolledHosts } = state
  const certified = new Set(
    state.log
      .filter(({ tipo_evento: type }) => type === 'certificate_issued')
      .map(({ payload }) => String(payload['hostname'])),
  )
  const hosts = new Set([...consumedTokens, ...enrolledHosts, ...certified])
  return [...hosts].flatMap((hostname) => {
    const has = {
      token: consumedTokens.has(hostname),
      agent: enrolledHosts.has(hostname),
      certificate: certified.has(hostname),
      entry: log.has(`agent_enrolled ${hostname}`),
    }
    const missing = Object.entries(has).filter(([, isThere]) => !isThere)
    if (missing.length === 0) return []
    const names = missing.map(([name]) => name).join(', ')
    return [{ kind: 'half', text: `the enrolment of ${hostname} lacks ${names}` }]
  })
}
