// Clients of all kinds at once: hosts that stay, hosts that come by a token that two use at the same moment, and hosts that are revoked.

import { invariant } from '../../src/platform/errors.ts'
import { createKeyAndCsr, readIdentity } from '../support/enrolled-host.ts'
import { send } from '../support/wire-client.ts'
import { AgentClient, fingerprintOf } from './agent-client.ts'
import type { Clients } from './clients.ts'

/** Of the hubs: a few hosts that write without a pause, of which none is to be refused for that. */
export const WITHOUT_RATES = {
  SVC_LIMIT_EVENTS: '0',
  SVC_LIMIT_EVENT_BYTES: '0',
  SVC_LIMIT_ENROLL_FAILURES: '0',
  SVC_LIMIT_ISSUE: '0',
}

const STAYING = 4
const COMING_MAX = 6
const ENROLMENT_MS = 700
const REVOCATION_MS = 1500
const RETRY_MS = 150
const USES_OF_A_TOKEN = 2
const ROLE = 'web'

export interface Load {
  /** Nothing new begins; resolves when everything was answered. */
  stop(): Promise<void>
}

/** Resolves when the hosts that stay are enrolled. */
export async function startLoad(clients: Clients): Promise<Load> {
  const coming: AgentClient[] = []
  const running: Promise<void>[] = []
  for (let number = 0; number < STAYING; number += 1) {
    const agent = await enrol(clients)
    invariant(agent, 'a host is enrolled before anything goes wrong')
    running.push(agent.run())
  }
  running.push(enrolOthers(clients, coming, running), revokeOthers(clients, coming))
  return {
    stop: async () => {
      clients.stop()
      // More may have begun meanwhile.
      for (let count = 0; count < running.length; count += 1) await running[count]
    },
  }
}

async function enrolOthers(
  clients: Clients,
  coming: AgentClient[],
  running: Promise<void>[],
): Promise<void> {
  while (!clients.isOver) {
    await clients.pause(ENROLMENT_MS)
    if (coming.length >= COMING_MAX || clients.isOver) continue
    const agent = await enrol(clients)
    if (agent === undefined) continue
    coming.push(agent)
    running.push(agent.run())
  }
}

async function revokeOthers(clients: Clients, coming: AgentClient[]): Promise<void> {
  while (!clients.isOver) {
    await clients.pause(REVOCATION_MS)
    const [agent] = coming.splice(0, 1)
    if (agent !== undefined) await revoke(clients, agent.hostname)
  }
}

/** By a new token, which several use; undefined when nobody was told that it succeeded. */
async function enrol(clients: Clients): Promise<AgentClient | undefined> {
  const hostname = `host-${clients.nextNumber()}.example`
  const token = await createToken(clients, hostname)
  if (token === undefined) return undefined
  const uses = Array.from({ length: USES_OF_A_TOKEN }, () => useToken(clients, hostname, token))
  return (await Promise.all(uses)).find((agent) => agent !== undefined)
}

async function createToken(clients: Clients, hostname: string): Promise<string | undefined> {
  const hub = clients.pickHub()
  let token: string | undefined
  await clients.ask({ kind: 'token', hostname, key: hostname, hub }, async () => {
    token = await clients.hubAt(hub).createToken({ hostname, role: ROLE })
    return { outcome: 'acknowledged' }
  })
  return token
}

/** In the same words until there is an answer, at any hub. */
async function useToken(
  clients: Clients,
  hostname: string,
  token: string,
): Promise<AgentClient | undefined> {
  const { keyPem, csrPem } = await createKeyAndCsr(hostname)
  const key = `use-${clients.nextNumber()}-of-a-token`
  const body = JSON.stringify({ token, hostname, role: ROLE, csr_pem: csrPem })
  const headers = { 'content-type': 'application/json', 'idempotency-key': key }
  let agent: AgentClient | undefined
  while (!clients.isOver) {
    const hub = clients.pickHub()
    const { outcome } = await clients.ask({ kind: 'enrol', hostname, key, hub }, async () => {
      const target = { port: clients.hubAt(hub).ports.enroll }
      const reply = await send(target, { method: 'POST', path: '/v1/enroll', headers, body })
      const said = clients.judge(`enrolment of ${hostname}`, reply)
      if (said !== 'acknowledged') return { outcome: said }
      const identity = readIdentity(reply, keyPem)
      agent = new AgentClient(clients, hostname, identity)
      return { outcome: said, answer: fingerprintOf(identity.certPem) }
    })
    if (outcome !== 'unknown') return agent
    await clients.pause(RETRY_MS)
  }
  return agent
}

async function revoke(clients: Clients, hostname: string): Promise<void> {
  while (!clients.isOver) {
    const hub = clients.pickHub()
    const { outcome } = await clients.ask(
      { kind: 'revoke', hostname, key: hostname, hub },
      async () => {
        await clients.hubAt(hub).admin('POST', '/v1/admin/agentes/revoke', { agente: hostname })
        return { outcome: 'acknowledged' }
      },
    )
    if (outcome === 'acknowledged') return
    await clients.pause(RETRY_MS)
  }
}
