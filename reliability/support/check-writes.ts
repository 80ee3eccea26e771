// Whether a hub that was started again has everything that it had acknowledged, once, and a good chain.

import { toRecorded } from '../../src/admin/commands/evento/verify-log.ts'
import { ChainVerifier } from '../../src/audit/hash-chain.ts'
import { ENTRY_PAGE_MAX } from '../../src/protocol/admin/bounds.ts'
import type { AdminOperations } from '../../src/protocol/admin/operations.ts'
import type { AdminAgent, AdminEntry, AdminToken } from '../../src/protocol/admin/views.ts'
import type { HostWrites, WriteJournal } from './write-journal.ts'

const ASKED_IN_VAIN: ReadonlySet<string> = new Set([
  'certificate_answer_lost',
  'certificate_discarded',
])

/** The log of one vault, read on after every restart. */
export class KnownLog {
  readonly #verifier = new ChainVerifier()
  readonly eventsByRequest = new Map<string, AdminEntry>()
  /** How often an entry of a type names a host. */
  readonly #hostEntries = new Map<string, number>()
  #last: AdminEntry | undefined

  /** Entries of requests to the CA that nobody got a certificate of: as many as were sent. */
  askedInVain = 0

  get count(): number {
    return this.#verifier.count
  }

  hostEntries(type: string, hostname: string): number {
    return this.#hostEntries.get(`${type} ${hostname}`) ?? 0
  }

  /** Answers what is wrong with what was added since, and with the entry before it. */
  async readOn(admin: AdminOperations): Promise<string[]> {
    const faults: string[] = []
    const last = this.#last
    if (last !== undefined) {
      const { eventos } = await admin.listEntries({ after: last.seq - 1, limit: 1 })
      const [again] = eventos
      if (again?.hash_atual !== last.hash_atual) faults.push(`entry ${last.seq} is not what it was`)
    }
    for (;;) {
      const after = this.#last?.seq ?? 0
      const { eventos } = await admin.listEntries({ after, limit: ENTRY_PAGE_MAX })
      for (const entry of eventos) this.#verifier.add(toRecorded(entry))
      for (const entry of eventos) faults.push(...this.#note(entry))
      this.#last = eventos.at(-1) ?? this.#last
      if (eventos.length < ENTRY_PAGE_MAX) break
    }
    const { fault } = this.#verifier
    if (fault !== undefined) faults.push(`chain broken at entry ${fault.seq}: ${fault.reason}`)
    return faults
  }

  #note(entry: AdminEntry): string[] {
    const { request_id: requestId, tipo_evento: type, payload, seq } = entry
    if (requestId !== null) {
      const first = this.eventsByRequest.get(requestId)
      if (first !== undefined) return [`event ${requestId} is entry ${first.seq} and entry ${seq}`]
      this.eventsByRequest.set(requestId, entry)
    } else if (ASKED_IN_VAIN.has(type)) this.askedInVain += 1
    else if (typeof payload['hostname'] === 'string') {
      const key = `${type} ${payload['hostname']}`
      const count = (this.#hostEntries.get(key) ?? 0) + 1
      this.#hostEntries.set(key, count)
      if (count > 1) return [`${key} is in the log ${count} times, entry ${seq} is one of them`]
    }
    return []
  }
}

/** What the hub has against what it said; every line names the write that it is about. */
export async function findLostWrites(
  admin: AdminOperations,
  journal: WriteJournal,
  log: KnownLog,
): Promise<string[]> {
  const { tokens } = await admin.listTokens({})
  const { agentes } = await admin.listAgents({})
  const tokensOf = Map.groupBy(tokens, ({ hostname }) => hostname)
  const agentsOf = Map.groupBy(agentes, ({ hostname }) => hostname)
  const faults: string[] = []
  for (const host of journal.hosts.values()) {
    const rows = tokensOf.get(host.hostname) ?? []
    const agents = agentsOf.get(host.hostname) ?? []
    faults.push(...findHostFaults(host, rows, agents, log))
  }
  for (const { requestId, hostname, number, reply } of journal.events.values()) {
    const entry = log.eventsByRequest.get(requestId)
    const what = `event ${requestId} of ${hostname}`
    if (entry !== undefined && entry.payload['number'] !== number) faults.push(`${what}: changed`)
    if (reply === undefined) continue
    if (entry === undefined) faults.push(`${what}: acknowledged and lost`)
    else if (entry.id !== reply.id || entry.hash_atual !== reply.hash) {
      faults.push(`${what}: entry ${entry.seq} is not the one that was acknowledged`)
    }
  }
  return faults
}

function findHostFaults(
  host: HostWrites,
  tokens: readonly AdminToken[],
  agents: readonly AdminAgent[],
  log: KnownLog,
): string[] {
  const { hostname, tokenId, agentId } = host
  const faults: string[] = []
  const expect = (isSo: boolean, what: string): void => {
    if (!isSo) faults.push(`${hostname}: ${what}`)
  }
  expect(tokens.length <= 1, `${tokens.length} tokens`)
  expect(agents.length <= 1, `${agents.length} agents`)
  if (tokenId !== undefined) {
    expect(tokens[0]?.id === tokenId, `token ${tokenId} acknowledged and lost`)
  }
  if (agentId !== undefined) {
    expect(agents[0]?.id === agentId, `agent ${agentId} acknowledged and lost`)
  }
  // What was not acknowledged is there whole or not at all.
  const isEnrolled = agents.length > 0
  const isConsumed = (tokens[0]?.consumed_at ?? null) !== null
  expect(isConsumed === isEnrolled, `token consumed: ${isConsumed}, enrolled: ${isEnrolled}`)
  for (const [type, isDone] of [
    ['token_created', tokens.length > 0],
    ['agent_enrolled', isEnrolled],
    ['certificate_issued', isEnrolled],
  ] as const) {
    const count = log.hostEntries(type, hostname)
    expect(count === Number(isDone), `${count} entries ${type}, and it is done: ${isDone}`)
  }
  return faults
}
