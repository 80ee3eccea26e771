// Several clients that write to one hub until it dies: tokens, enrolments with them, events of those who enrolled.

import { createHash } from 'node:crypto'
import { Agent } from 'node:https'
import { Agent as PlainAgent } from 'node:http'
import { describeError, invariant } from '../../src/platform/errors.ts'
import type { AdminOperations } from '../../src/protocol/admin/operations.ts'
import { createKeyAndCsr } from '../../test/support/enrolled-host.ts'
import { HUB_NAME, type HubPorts } from '../../test/support/hub.ts'
import { send, type WireReply } from '../../test/support/wire-client.ts'
import type { Random } from '../../test/simulation/seeded-random.ts'
import type { EventWrite, HostWrites, WriteJournal } from './write-journal.ts'

export interface WriteLoadOptions {
  readonly ports: HubPorts
  readonly admin: AdminOperations
  readonly journal: WriteJournal
  readonly random: Random
  /** Whether the hub was killed: from then on an answer may be missing. */
  readonly isDead: () => boolean
}

const TOKEN_CLIENTS = 2
const ENROL_CLIENTS = 2
const EVENT_CLIENTS = 4
/** The load is to be steady, not a flood of tokens that nobody uses. */
const WAITING_HOSTS_MAX = 4
const HOSTS_REPORTING = 6
const ROLE = 'web'

/** Resolves when every client has noticed that the hub is gone. */
export async function loadUntilDead(options: WriteLoadOptions): Promise<void> {
  const clients = [
    ...repeat(TOKEN_CLIENTS, () => createTokens(options)),
    ...repeat(ENROL_CLIENTS, () => enrolHosts(options)),
    ...repeat(EVENT_CLIENTS, () => postEvents(options)),
  ]
  await Promise.all(clients)
}

/** So many hosts with an identity, on a hub that nobody kills. */
export async function enrolFirstHosts(options: WriteLoadOptions, count: number): Promise<void> {
  const agent = new PlainAgent({ keepAlive: true })
  for (let n = 0; n < count; n += 1) {
    const host = options.journal.nextHost()
    await createToken(options, host)
    await enrol(options, host, agent)
  }
  agent.destroy()
}

/** Asks again for every answer that is missing, on a hub that nobody kills. */
export async function finishWrites(options: WriteLoadOptions): Promise<void> {
  const { journal } = options
  const plain = new PlainAgent({ keepAlive: true })
  for (const host of journal.waitingToEnrol.splice(0)) await enrol(options, host, plain)
  plain.destroy()
  for (const event of journal.unanswered.splice(0)) {
    const host = journal.hosts.get(event.hostname)
    invariant(host, 'events are of hosts')
    const agent = agentOf(journal, host)
    await postEvent(options, event, agent)
    agent.destroy()
  }
}

function repeat(times: number, start: () => Promise<void>): Promise<void>[] {
  return Array.from({ length: times }, start)
}

async function createTokens(options: WriteLoadOptions): Promise<void> {
  const { journal } = options
  while (!options.isDead()) {
    if (journal.waitingToEnrol.length >= WAITING_HOSTS_MAX) await nextTurn()
    else await createToken(options, journal.nextHost())
  }
}

async function createToken(options: WriteLoadOptions, host: HostWrites): Promise<void> {
  const { admin, journal } = options
  const { hostname } = host
  await unlessDead(options, `token for ${hostname}`, async () => {
    const created = await admin.createToken({ hostname, role: ROLE })
    host.token = created.token
    host.tokenId = createHash('sha256').update(created.token).digest('hex').slice(0, 16)
    journal.waitingToEnrol.push(host)
    journal.noteAcknowledged()
  })
}

async function enrolHosts(options: WriteLoadOptions): Promise<void> {
  const agent = new PlainAgent({ keepAlive: true })
  while (!options.isDead()) {
    const host = options.journal.waitingToEnrol.shift()
    if (host === undefined) await nextTurn()
    else await enrol(options, host, agent)
  }
  agent.destroy()
}

/** The key makes an answer that was lost come again. */
async function enrol(
  options: WriteLoadOptions,
  host: HostWrites,
  agent: PlainAgent,
): Promise<void> {
  const { journal, ports } = options
  const { hostname, token } = host
  host.csr ??= await createKeyAndCsr(hostname)
  const body = { token, hostname, role: ROLE, csr_pem: host.csr.csrPem }
  const headers = { 'content-type': 'application/json', 'idempotency-key': `key of ${hostname}` }
  const isAnswered = await unlessDead(options, `enrolment of ${hostname}`, async () => {
    const reply = await send(
      { port: ports.enroll },
      { method: 'POST', path: '/v1/enroll', headers, body: JSON.stringify(body), agent },
    )
    if (!isGood(options, `enrolment of ${hostname}`, reply)) return
    host.agentId = String(reply.json['agent_id'])
    host.certPem = String(reply.json['cert_pem'])
    journal.caPem = String(reply.json['ca_pem'])
    journal.enrolled.push(host)
    journal.noteAcknowledged()
  })
  if (!isAnswered) journal.waitingToEnrol.push(host)
}

/** One agent, on one connection; another one after each restart. */
async function postEvents(options: WriteLoadOptions): Promise<void> {
  const { journal, random } = options
  const newest = journal.enrolled.slice(-HOSTS_REPORTING)
  const host = newest[Math.floor(random() * newest.length)]
  invariant(host, 'the first hosts are enrolled before the load begins')
  const agent = agentOf(journal, host)
  while (!options.isDead()) {
    const index = journal.unanswered.findIndex(({ hostname }) => hostname === host.hostname)
    const [again] = index < 0 ? [] : journal.unanswered.splice(index, 1)
    await postEvent(options, again ?? journal.nextEvent(host.hostname), agent)
  }
  agent.destroy()
}

async function postEvent(
  options: WriteLoadOptions,
  event: EventWrite,
  agent: Agent,
): Promise<void> {
  const { journal, ports } = options
  const { requestId, number } = event
  const body = { tipo_evento: 'noted', payload: { number }, request_id: requestId }
  const isAnswered = await unlessDead(options, `event ${requestId}`, async () => {
    const target = { port: ports.mtls, tls: { ca: journal.caPem, servername: HUB_NAME } }
    const reply = await send(target, {
      method: 'POST',
      path: '/v1/events',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      agent,
    })
    if (!isGood(options, `event ${requestId} of ${event.hostname}`, reply)) return
    event.reply = { id: String(reply.json['evento_id']), hash: String(reply.json['hash_atual']) }
    journal.noteAcknowledged()
  })
  if (!isAnswered) journal.unanswered.push(event)
}

function agentOf(journal: WriteJournal, { certPem, csr }: HostWrites): Agent {
  invariant(certPem && csr, 'the host is enrolled')
  const tls = { ca: journal.caPem, cert: certPem, key: csr.keyPem, servername: HUB_NAME }
  return new Agent({ keepAlive: true, maxSockets: 1, ...tls })
}

function isGood({ journal }: WriteLoadOptions, what: string, reply: WireReply): boolean {
  if (reply.status === 200) return true
  journal.surprises.push(`${what}: answered ${reply.status} ${reply.text}`)
  return false
}

/** False when no answer came. */
async function unlessDead(
  options: WriteLoadOptions,
  what: string,
  write: () => Promise<void>,
): Promise<boolean> {
  try {
    await write()
    return true
  } catch (error) {
    if (options.isDead()) options.journal.lost += 1
    else {
      options.journal.surprises.push(`${what}: ${describeError(error)} while the hub ran`)
    }
    return false
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 1)
  })
}
