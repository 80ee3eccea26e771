// Agents are revoked while they ask: once the hub has answered the revocation, it serves them nothing, on open
// connections too, and writes nothing that was under way.

import { HubEventType } from '../../../src/protocol/words.ts'
import { describeError } from '../../../src/platform/errors.ts'
import { ENTRY_PAGE_MAX } from '../../../src/protocol/admin/bounds.ts'
import type { AdminOperations } from '../../../src/protocol/admin/operations.ts'
import { createKeyAndCsr, enrollHost } from '../../../test/support/enrolled-host.ts'
import type { HubPorts } from '../../../test/support/hub.ts'
import { waitUntil } from '../../../test/support/processes.ts'
import type { Random } from '../../../test/simulation/seeded-random.ts'
import { inLanes } from '../in-lanes.ts'
import {
  type Answer,
  askOnce,
  CUT,
  hubOf,
  OpenConnection,
  pickRoute,
  targetOf,
} from './identity-probe.ts'

export interface RevokedOptions {
  readonly ports: HubPorts
  readonly admin: AdminOperations
  readonly agents: number
  readonly random: Random
}

const LANES = 8
const BUSY_REQUESTS_BEFORE_MAX = 4

/** Answers what was served and should not have been. */
export async function tryRevoked(options: RevokedOptions): Promise<string[]> {
  const { admin, agents } = options
  const faults = await inLanes({ times: agents, lanes: LANES }, (number) =>
    revokeOne(options, `revoked-${number}.example`),
  )
  return [...faults.flat(), ...(await findLateEntries(admin))]
}

async function revokeOne(
  { ports, admin, random }: RevokedOptions,
  hostname: string,
): Promise<string[]> {
  const faults: string[] = []
  const host = await enrollHost(hubOf(ports, admin), hostname)
  const target = targetOf(ports.mtls, host)
  const csr = await createKeyAndCsr(hostname)
  const [quiet, busy] = await Promise.all([
    OpenConnection.open(target),
    OpenConnection.open(target),
  ])
  const first = await quiet.ask('manifest', csr)
  if (first !== '200') faults.push(`${hostname}: answered ${first} before it was revoked`)

  let isRevoked = false
  let asked = 0
  const keepAsking = async (): Promise<Answer> => {
    for (;;) {
      const wasRevoked = isRevoked
      const answer = await busy.ask(asked % 2 === 0 ? 'events' : 'manifest', csr)
      asked += 1
      if (answer !== '200') return answer
      if (wasRevoked) return 'as before'
    }
  }
  const busyEnd = keepAsking().catch(describeError)
  const before = Math.floor(random() * BUSY_REQUESTS_BEFORE_MAX)
  await waitUntil('the agent to be busy', () => (asked >= before ? true : undefined))
  await admin.revokeAgent({ agente: hostname })
  isRevoked = true
  const [onOpen, onNew] = await Promise.all([
    quiet.ask(pickRoute(random), csr),
    askOnce(target, pickRoute(random), csr),
  ])
  for (const [where, answer] of [
    ['on an open connection', onOpen],
    ['on a busy connection', await busyEnd],
  ]) {
    if (answer !== CUT && answer !== '401 agent_revoked') {
      faults.push(`${hostname}: answered ${answer} ${where} after it was revoked`)
    }
  }
  if (onNew !== '401 agent_revoked') {
    faults.push(`${hostname}: answered ${onNew} on a new connection after it was revoked`)
  }
  quiet.close()
  busy.close()
  return faults
}

async function findLateEntries(admin: AdminOperations): Promise<string[]> {
  const { agentes } = await admin.listAgents({})
  const idOf = new Map(agentes.map(({ hostname, id }) => [hostname, id]))
  const revoked = new Set<string>()
  const faults: string[] = []
  let after = 0
  for (;;) {
    const { eventos } = await admin.listEntries({ after, limit: ENTRY_PAGE_MAX })
    for (const { seq, tipo_evento: type, agente_id: sender, payload } of eventos) {
      const named = String(payload['hostname'])
      const subject = sender ?? idOf.get(named)
      // The hub goes on to revoke at the CA what it refuses by then.
      const isExpected = sender === null && type === HubEventType.certificateRevokedAtCa
      if (subject !== undefined && revoked.has(subject) && !isExpected) {
        faults.push(`entry ${seq} is ${type} of ${named}, which was revoked before`)
      }
      if (type === 'agent_revoked' && subject !== undefined) revoked.add(subject)
      after = seq
    }
    if (eventos.length < ENTRY_PAGE_MAX) return faults
  }
}
