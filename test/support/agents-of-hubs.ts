// Agents of several hubs, by the wire alone: they poll, send events, enrol and hold streams, each at one hub until that fails, and then at the
// next one. What an agent must not see is kept: any answer but the right one and 503 with Retry-After.

import { setTimeout as pause } from 'node:timers/promises'
import { createKeyAndCsr, enrollHost, type EnrolledHost } from './enrolled-host.ts'
import type { HubProcess } from './hub-process.ts'
import { openStream } from './stream-client.ts'
import { send, type Target, type WireReply, type WireRequest } from './wire-client.ts'

export interface Seen {
  readonly polls: number
  readonly events: number
  readonly enrolments: number
  /** Streams that were opened. */
  readonly streams: number
  /** Answers and connections that sent an agent to another hub, or there again. */
  readonly retries: number
  /** The longest that an agent tried in vain, in milliseconds. */
  readonly longestMs: number
  /** What no agent may see. */
  readonly errors: readonly string[]
}

export interface AgentsOfHubs {
  readonly seen: Seen
  /** When everything under way is answered. */
  stop(): Promise<void>
}

const PAUSE_MS = 100
const RETRY_MS = 100

export async function startAgents(
  hubs: readonly HubProcess[],
  count: number,
): Promise<AgentsOfHubs> {
  const [first] = hubs
  if (first === undefined) throw new Error('there is a hub')
  const hosts: EnrolledHost[] = []
  for (let at = 0; at < count; at += 1) {
    hosts.push(await enrollHost(first, `agent-${at}.example.org`))
  }
  const seen = {
    polls: 0,
    events: 0,
    enrolments: 0,
    streams: 0,
    retries: 0,
    longestMs: 0,
    errors: [] as string[],
  }
  const over = new AbortController()
  const run = async (at: number, work: (hub: () => HubProcess) => Promise<void>): Promise<void> => {
    let next = at
    let servedMs = performance.now()
    while (!over.signal.aborted) {
      const hub = hubs[next % hubs.length] ?? first
      try {
        await work(() => hub)
        servedMs = performance.now()
        await pause(PAUSE_MS)
      } catch (error) {
        if (error instanceof WrongAnswer) seen.errors.push(error.message)
        seen.retries += 1
        seen.longestMs = Math.max(seen.longestMs, performance.now() - servedMs)
        next += 1
        await pause(RETRY_MS)
      }
    }
  }
  const loops = hosts.flatMap((host, at) => [
    run(at, async (hub) => {
      await expect200('poll', { ...host.mtls, port: hub().ports.mtls }, { path: '/v1/manifest' })
      seen.polls += 1
    }),
    runEvents(at, host, run, () => (seen.events += 1)),
    run(at, async (hub) => {
      const stream = await openStream({ ...host.mtls, port: hub().ports.mtls })
      if (stream.status !== 200) throw wrongUnlessLater('stream', stream)
      seen.streams += 1
      while (!over.signal.aborted && !stream.hasEnded()) await pause(PAUSE_MS)
      stream.close()
    }),
  ])
  loops.push(runEnrolments(hubs, run, () => (seen.enrolments += 1)))
  return {
    seen,
    stop: async () => {
      over.abort()
      await Promise.all(loops)
    },
  }
}

type Run = (at: number, work: (hub: () => HubProcess) => Promise<void>) => Promise<void>

/** The same event under the same id, until a hub has taken it. */
function runEvents(at: number, host: EnrolledHost, run: Run, note: () => void): Promise<void> {
  let number = 1
  return run(at, async (hub) => {
    const body = JSON.stringify({
      tipo_evento: 'agent_started',
      payload: { number },
      request_id: `${host.agentId}-${number}`,
    })
    const headers = { 'content-type': 'application/json' }
    const target = { ...host.mtls, port: hub().ports.mtls }
    await expect200('event', target, { method: 'POST', path: '/v1/events', headers, body })
    number += 1
    note()
  })
}

/** One after the other, each under the same key until a hub has answered it. */
function runEnrolments(hubs: readonly HubProcess[], run: Run, note: () => void): Promise<void> {
  let number = 1
  let wire: WireRequest | undefined
  return run(0, async (hub) => {
    wire ??= await prepareEnrolment(hubs, `new-${number}.example.org`)
    await expect200('enrolment', { port: hub().ports.enroll }, wire)
    wire = undefined
    number += 1
    note()
  })
}

/** An operator makes the token at any hub that runs. */
async function prepareEnrolment(
  hubs: readonly HubProcess[],
  hostname: string,
): Promise<WireRequest> {
  const token = await Promise.any(hubs.map((hub) => hub.createToken({ hostname })))
  const { csrPem } = await createKeyAndCsr(hostname)
  return {
    method: 'POST',
    path: '/v1/enroll',
    headers: { 'content-type': 'application/json', 'idempotency-key': hostname },
    body: JSON.stringify({ token, hostname, role: 'web', csr_pem: csrPem }),
  }
}

class WrongAnswer extends Error {}

async function expect200(what: string, target: Target, wire: WireRequest): Promise<void> {
  const reply = await send(target, wire)
  if (reply.status !== 200) throw wrongUnlessLater(what, reply)
}

function wrongUnlessLater(
  what: string,
  reply: Pick<WireReply, 'status' | 'headers'> & { readonly text?: unknown },
): Error {
  const { status, headers } = reply
  if (status === 503 && headers['retry-after'] !== undefined) return new Error('later')
  const text = typeof reply.text === 'string' ? reply.text : ''
  return new WrongAnswer(`${what}: ${status} ${text}`)
}
