// One host that polls, sends events from an outbox, renews and holds a stream, at one hub until that fails it, then at the next one; until it is
// revoked, and for a while after that.

import { X509Certificate } from 'node:crypto'
import { Agent } from 'node:https'
import { createKeyAndCsr, type Identity } from '../support/enrolled-host.ts'
import { HUB_NAME } from '../support/hub.ts'
import { openStream } from '../support/stream-client.ts'
import { send, type Target, type WireReply } from '../support/wire-client.ts'
import type { Answered, Clients } from './clients.ts'

const POLL_MS = 200
const EVENT_MS = 100
const RENEWAL_MS = 3000
const STREAM_MS = 300
const STREAM_LOOK_MS = 50
/** So often it is refused before it believes that it is revoked. */
const REFUSALS_MAX = 4

export class AgentClient {
  readonly hostname: string
  readonly #clients: Clients
  readonly #identity: Identity
  readonly #connections: Agent
  #hub: number
  #refusals = 0

  constructor(clients: Clients, hostname: string, identity: Identity) {
    this.hostname = hostname
    this.#clients = clients
    this.#identity = identity
    this.#connections = new Agent({ keepAlive: true, maxSockets: 4, ...tlsOf(identity) })
    this.#hub = clients.pickHub()
  }

  async run(): Promise<void> {
    await Promise.all([this.#poll(), this.#report(), this.#renew(), this.#listen()])
    this.#connections.destroy()
  }

  get #isOver(): boolean {
    return this.#clients.isOver || this.#refusals >= REFUSALS_MAX
  }

  async #poll(): Promise<void> {
    while (!this.#isOver) {
      await this.#ask('poll', '', async () => {
        const reply = await this.#send('GET', '/v1/manifest')
        return this.#answerOf('poll', reply)
      })
      await this.#clients.pause(POLL_MS)
    }
  }

  /** Each event until it is answered, as an outbox does. */
  async #report(): Promise<void> {
    while (!this.#isOver) {
      const number = this.#clients.nextNumber()
      const requestId = `event-${number}`
      const event = { tipo_evento: 'noted', payload: { number }, request_id: requestId }
      while (!this.#isOver) {
        const { outcome } = await this.#ask('event', requestId, async () => {
          const reply = await this.#send('POST', '/v1/events', event)
          return this.#answerOf('event', reply, () => String(reply.json['hash_atual']))
        })
        await this.#clients.pause(EVENT_MS)
        if (outcome === 'acknowledged') break
      }
    }
  }

  async #renew(): Promise<void> {
    while (!this.#isOver) {
      const { csrPem } = await createKeyAndCsr(this.hostname)
      await this.#ask('issue', `csr-${this.#clients.nextNumber()}`, async () => {
        const reply = await this.#send('POST', '/v1/certs/issue', { csr_pem: csrPem })
        return this.#answerOf('issue', reply, () => fingerprintOf(String(reply.json['cert_pem'])))
      })
      await this.#clients.pause(RENEWAL_MS)
    }
  }

  async #listen(): Promise<void> {
    while (!this.#isOver) {
      await this.#ask('stream', '', async () => {
        const stream = await openStream(this.#target())
        if (stream.status !== 200) return { outcome: 'refused' }
        // Of a host that is revoked the hub ends it.
        while (!stream.hasEnded() && !this.#clients.isOver) {
          await this.#clients.pause(STREAM_LOOK_MS)
        }
        stream.close()
        return { outcome: 'acknowledged' }
      })
      await this.#clients.pause(STREAM_MS)
    }
  }

  async #ask(
    kind: 'poll' | 'event' | 'issue' | 'stream',
    key: string,
    request: () => Promise<Answered>,
  ): Promise<Answered> {
    const hub = this.#hub
    const answered = await this.#clients.ask({ kind, key, hostname: this.hostname, hub }, request)
    if (answered.outcome === 'unknown' && this.#hub === hub) {
      this.#hub = (hub + 1) % this.#clients.hubs.length
    }
    if (answered.outcome === 'refused') this.#refusals += 1
    if (answered.outcome === 'acknowledged') this.#refusals = 0
    return answered
  }

  #answerOf(what: string, reply: WireReply, read?: () => string): Answered {
    const outcome = this.#clients.judge(`${what} of ${this.hostname}`, reply)
    return outcome === 'acknowledged' && read ? { outcome, answer: read() } : { outcome }
  }

  #send(method: string, path: string, body?: object): Promise<WireReply> {
    const text = body === undefined ? {} : { body: JSON.stringify(body) }
    const headers = { 'content-type': 'application/json' }
    return send(this.#target(), { method, path, headers, agent: this.#connections, ...text })
  }

  #target(): Target {
    return { port: this.#clients.hubAt(this.#hub).ports.mtls, tls: tlsOf(this.#identity) }
  }
}

export function fingerprintOf(certPem: string): string {
  return new X509Certificate(certPem).fingerprint256.replaceAll(':', '').toLowerCase()
}

function tlsOf({ caPem, certPem, keyPem }: Identity): NonNullable<Target['tls']> {
  return { ca: caPem, cert: certPem, key: keyPem, servername: HUB_NAME }
}
