// A hub that speaks the wire and nothing else: real HTTPS, real mutual TLS, and misbehaviour on demand.

import { compactVerify } from 'jose'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { basename } from 'node:path'
import { createHash, randomUUID, X509Certificate } from 'node:crypto'
import type { AddressInfo, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type {
  EnrollReplyBody,
  EnrollRequestBody,
  EventRequestBody,
  IssueRequestBody,
  BundleReplyBody,
  RecipientRequestBody,
  ManifestEntryBody,
  RecoverRequestBody,
  RecoveryClaims,
} from '../../src/protocol/schemas.ts'
import { createFakeCa, type FakeCa } from './hub-certificates.ts'

export type FakeRoute =
  | 'enroll'
  | 'recover'
  | 'issue'
  | 'manifest'
  | 'events'
  | 'recipient'
  | 'blob'
  | 'bundle'
  | 'receipt'

/** `cut-before` drops the connection unanswered, `cut-after` does the work first: the reply is lost. */
export type Misbehaviour =
  | { readonly kind: 'cut-before' | 'cut-after' | 'foreign-key' | 'not-json' }
  /** A blob with a digest that is another one's, with none, cut short, or without an end. */
  | { readonly kind: 'wrong-digest' | 'no-digest' | 'short' | 'endless' }
  | {
      readonly kind: 'refuse'
      readonly status: number
      readonly code: string
      readonly retryAfter?: string
    }

export interface RecordedRequest {
  readonly route: FakeRoute
  readonly body: unknown
  readonly headers: IncomingMessage['headers']
  /** Of the client certificate, lower-case hex. */
  readonly serial: string | undefined
}

export class FakeHub implements AsyncDisposable {
  readonly ca: FakeCa
  readonly requests: RecordedRequest[] = []
  /** Recorded ones: an event with a known `request_id` is answered but not recorded again. */
  readonly events: EventRequestBody[] = []
  readonly tokens = new Map<
    string,
    { hostname: string; role: string; isExpired?: true; consumedBy?: string; reply?: unknown }
  >()
  entregas: ManifestEntryBody[] = []
  /** In the manifest, whatever it is. */
  atualizacao: unknown = undefined
  /** Every recipient that was told, in order. */
  readonly recipients: string[] = []
  /** What cargoes hold, by id. */
  readonly blobs = new Map<string, Uint8Array>()
  /** Undefined as with a hub that has no sets of roots. */
  bundle: BundleReplyBody | undefined
  /** Who signs the roots, as hosts that enrol are told. */
  enrolmentTrust: Partial<Pick<EnrollReplyBody, 'trust_key' | 'signed'>> = {}
  /** Handed out with every certificate, besides its own root. */
  furtherRootPem = ''
  /** What it signs of an identity, by its SHA-256; undefined as with a hub of before receipts. */
  receiptOf: ((sha256: string) => string) | undefined
  /** As a hub of before sealed files, if not. */
  knowsSealedFiles = true
  lifetimeMs = 86_400_000
  /** How far its clock is ahead of the real one: its `Date`, and what it signs. */
  clockOffsetMs = 0
  /** What every recovery that it granted claimed. */
  readonly recoveries: RecoveryClaims[] = []
  /** How long ago issued certificates began to be valid. */
  backdateMs = 60_000
  /** Whether a reported delivery disappears from the manifest, as it does at a real hub. */
  settlesDeliveries = true
  readonly #planned = new Map<FakeRoute, Misbehaviour[]>()
  readonly #sockets = new Set<Socket>()
  #servers: Server[] = []
  enrollUrl = ''
  mtlsUrl = ''

  constructor(ca: FakeCa) {
    this.ca = ca
  }

  static async start(): Promise<FakeHub> {
    const hub = new FakeHub(await createFakeCa())
    await hub.listen()
    return hub
  }

  /** The next requests to `route` get these, one each. */
  misbehave(route: FakeRoute, ...plan: Misbehaviour[]): void {
    this.#planned.set(route, [...(this.#planned.get(route) ?? []), ...plan])
  }

  requestsTo(route: FakeRoute): RecordedRequest[] {
    return this.requests.filter((request) => request.route === route)
  }

  eventTypes(): string[] {
    return this.events.map(({ tipo_evento: type }) => type)
  }

  async listen(port = 0): Promise<void> {
    const { certificatePem, keyPem } = await this.ca.issueServer('127.0.0.1')
    const enroll = createServer(
      (request, response) => void this.#serve('enroll', request, response),
    )
    const mtls = createTlsServer(
      {
        key: keyPem,
        cert: certificatePem,
        ca: [this.ca.rootPem, this.ca.intermediatePem],
        requestCert: true,
        rejectUnauthorized: true,
      },
      (request, response) => void this.#serve('mtls', request, response),
    )
    this.#servers = [enroll, mtls]
    this.enrollUrl = `http://127.0.0.1:${await this.#open(enroll, 0)}`
    this.mtlsUrl = `https://127.0.0.1:${await this.#open(mtls, port)}`
  }

  /** Goes away; `listen(port)` brings it back at the same address. */
  async stop(): Promise<number> {
    const { port } = new URL(this.mtlsUrl)
    for (const socket of this.#sockets) socket.destroy()
    await Promise.all(
      this.#servers.map((server) => new Promise((resolve) => server.close(resolve))),
    )
    return Number(port)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  #open(server: Server, port: number): Promise<number> {
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    return new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
    })
  }

  async #serve(
    port: 'enroll' | 'mtls',
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    response.setHeader('date', new Date(this.#now()).toUTCString())
    // Whoever only asks for the time is not recorded.
    if (request.method === 'GET' && port === 'enroll') {
      return send(response, 405, { error: 'method_not_allowed' })
    }
    // As a hub of an earlier version answers; nobody counts on it.
    const isUnknown = request.url?.endsWith('/receipt') === true && this.receiptOf === undefined
    if (isUnknown || request.url?.endsWith('/stream') === true) {
      return send(response, 404, { error: 'route_not_found' })
    }
    const route = routeOf(request.url ?? '')
    const body = await readJson(request)
    const peer = port === 'mtls' ? (request.socket as TLSSocket).getPeerCertificate() : undefined
    this.requests.push({
      route,
      body,
      headers: request.headers,
      serial: peer?.serialNumber.toLowerCase(),
    })
    const plan = this.#planned.get(route)?.shift()
    if (plan?.kind === 'cut-before') return void request.socket.destroy()
    if (plan?.kind === 'refuse') {
      if (plan.retryAfter !== undefined) response.setHeader('retry-after', plan.retryAfter)
      return send(response, plan.status, { error: plan.code })
    }
    if (route === 'receipt') {
      const sha256 = peer?.fingerprint256.replaceAll(':', '').toLowerCase() ?? ''
      return send(response, 200, { receipt: this.receiptOf?.(sha256) })
    }
    if (route === 'recipient' || route === 'blob') {
      if (!this.knowsSealedFiles) return send(response, 404, { error: 'route_not_found' })
      if (route === 'blob') return this.#sendBlob(request, response, plan)
    }
    const { status, reply } = await this.#answer(
      route,
      body,
      request,
      peer?.subject.CN as string,
      plan,
    )
    if (plan?.kind === 'cut-after') return void request.socket.destroy()
    if (plan?.kind === 'not-json') return void response.end('<html>')
    const etag = `"${createHash('sha256').update(JSON.stringify(reply)).digest('hex')}"`
    if (route === 'manifest') {
      const { numero, epoca } = this.bundle ?? {}
      if (numero !== undefined) response.setHeader('x-bundle-numero', numero)
      if (epoca !== undefined) response.setHeader('x-bundle-epoca', epoca)
      response.setHeader('etag', etag)
      if (request.headers['if-none-match'] === etag) return void response.writeHead(304).end()
    }
    send(response, status, reply)
  }

  async #answer(
    route: FakeRoute,
    body: unknown,
    request: IncomingMessage,
    commonName: string,
    plan: Misbehaviour | undefined,
  ): Promise<{ status: number; reply: unknown }> {
    if (route === 'enroll') {
      return this.#enroll(body as EnrollRequestBody, request.headers['idempotency-key'] as string)
    }
    if (route === 'bundle') {
      if (this.bundle !== undefined) return ok(this.bundle)
      return { status: 404, reply: { error: 'route_not_found' } }
    }
    if (route === 'recover') return this.#recover(body as RecoverRequestBody)
    if (route === 'recipient') {
      this.recipients.push((body as RecipientRequestBody).recipient)
      return ok(body)
    }
    if (route === 'issue') {
      return ok(await this.#issue((body as IssueRequestBody).csr_pem, commonName, plan))
    }
    return ok(
      route === 'manifest'
        ? { entregas: this.entregas, atualizacao: this.atualizacao }
        : this.#record(body as EventRequestBody),
    )
  }

  async #enroll(
    body: EnrollRequestBody,
    idempotencyKey: string,
  ): Promise<{ status: number; reply: unknown }> {
    const token = this.tokens.get(body.token)
    if (token === undefined) return { status: 401, reply: { error: 'token_not_found' } }
    if (token.isExpired === true) return { status: 401, reply: { error: 'token_expired' } }
    const request = `${idempotencyKey} ${body.csr_pem} ${body.recipient ?? ''}`
    if (token.consumedBy === request) return ok({ ...Object(token.reply), ...this.enrolmentTrust })
    if (token.consumedBy !== undefined) return { status: 401, reply: { error: 'token_consumed' } }
    if (token.hostname !== body.hostname)
      return { status: 403, reply: { error: 'hostname_mismatch' } }
    token.consumedBy = request
    if (body.recipient !== undefined) this.recipients.push(body.recipient)
    token.reply = {
      agent_id: randomUUID(),
      ...(await this.#issue(body.csr_pem, body.hostname, undefined)),
    }
    return ok({ ...Object(token.reply), ...this.enrolmentTrust })
  }

  /** Any certificate of the CA will do; the proof has to be right, and new. */
  async #recover(body: RecoverRequestBody): Promise<{ status: number; reply: unknown }> {
    const refused = { status: 401, reply: { error: 'recovery_refused' } }
    const certificate = new X509Certificate(body.cert_pem)
    const options = { algorithms: ['ES256'] }
    const verified = await compactVerify(body.proof, certificate.publicKey, options).catch(
      () => undefined,
    )
    if (verified === undefined) return refused
    const claims = JSON.parse(new TextDecoder().decode(verified.payload)) as RecoveryClaims
    const isOld = Math.abs(claims.iat * 1000 - this.#now()) > 300_000
    const isUsed = this.recoveries.some(({ jti }) => jti === claims.jti)
    const der = Buffer.from(body.csr_pem.replace(/-----[^-]+-----/g, ''), 'base64')
    const isForThisCsr = createHash('sha256').update(der).digest('base64url') === claims.csr_sha256
    if (isOld || isUsed || !isForThisCsr || claims.aud !== '127.0.0.1') return refused
    this.recoveries.push(claims)
    return ok(await this.#issue(body.csr_pem, certificate.subject.replace('CN=', ''), undefined))
  }

  #sendBlob(
    request: IncomingMessage,
    response: ServerResponse,
    plan: Misbehaviour | undefined,
  ): void {
    const blob = this.blobs.get(basename(request.url ?? ''))
    if (blob === undefined) return send(response, 404, { error: 'blob_not_found' })
    const digest = createHash('sha256').update(blob)
    if (plan?.kind === 'wrong-digest') digest.update('something else')
    const sha256 = digest.digest()
    response.setHeader('etag', `"${sha256.toString('hex')}"`)
    const validator = request.headers['if-none-match']
    if (validator === '*' || validator === response.getHeader('etag')) {
      return void response.writeHead(304).end()
    }
    response.setHeader('content-type', 'application/octet-stream')
    if (plan?.kind !== 'no-digest') {
      response.setHeader('repr-digest', `sha-256=:${sha256.toString('base64')}:`)
    }
    if (plan?.kind === 'endless') return writeForEver(response)
    response.setHeader('content-length', blob.length)
    if (plan?.kind === 'short') {
      response.write(blob.subarray(0, -1), () => request.socket.destroy())
    } else response.end(blob)
  }

  #now(): number {
    return Date.now() + this.clockOffsetMs
  }

  async #issue(csrPem: string, commonName: string, plan: Misbehaviour | undefined) {
    const notBefore = new Date(this.#now() - this.backdateMs)
    return {
      cert_pem: await this.ca.sign(csrPem, {
        commonName,
        notBefore,
        notAfter: new Date(notBefore.getTime() + this.lifetimeMs),
        withForeignKey: plan?.kind === 'foreign-key',
      }),
      ca_pem: this.ca.rootPem + this.furtherRootPem,
    }
  }

  #record(event: EventRequestBody): unknown {
    if (!this.events.some(({ request_id: id }) => id === event.request_id)) this.events.push(event)
    if (this.settlesDeliveries && event.tipo_evento.startsWith('entrega_')) {
      this.entregas = this.entregas.filter(({ id }) => id !== event.entrega_id)
    }
    return { evento_id: randomUUID(), hash_atual: '0'.repeat(64) }
  }
}

function ok(reply: unknown): { status: number; reply: unknown } {
  return { status: 200, reply }
}

function writeForEver(response: ServerResponse): void {
  const chunk = Buffer.alloc(256 * 1024)
  const more = (): void => {
    if (!response.destroyed) response.write(chunk, more)
  }
  response.on('error', () => undefined)
  more()
}

function routeOf(path: string): FakeRoute {
  if (path.endsWith('/recipient')) return 'recipient'
  if (path.endsWith('/receipt')) return 'receipt'
  if (path.includes('/blobs/')) return 'blob'
  if (path.endsWith('/bundle')) return 'bundle'
  if (path.endsWith('/enroll')) return 'enroll'
  if (path.endsWith('/recover')) return 'recover'
  if (path.endsWith('/issue')) return 'issue'
  return path.endsWith('/manifest') ? 'manifest' : 'events'
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text === '' ? undefined : (JSON.parse(text) as unknown)
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
