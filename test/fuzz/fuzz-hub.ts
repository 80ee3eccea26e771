// Sends malformed requests to a hub and judges what it answers.

import { createDelivery } from '../support/deliveries.ts'
import { createKeyAndCsr, enrollHost, type EnrolledHost } from '../support/enrolled-host.ts'
import { type TestHub, WITH_ENROLL_TLS } from '../support/hub.ts'
import { createAgeKeys, createSealedCargo, sealForHosts } from '../support/sealed-files.ts'
import type { Target } from '../support/wire-client.ts'
import type { KnownFacts } from './malformed-request.ts'
import { type Answer, type Connection, exchange, open } from './raw-client.ts'
import type { MalformedRequest } from './request-bytes.ts'

/** Settings of a hub for this: every request reaches its parsers, and only an error is worth a line in its log. */
export const FUZZED_HUB = {
  ...WITH_ENROLL_TLS,
  SVC_LIMIT_ENROLL_FAILURES: '0',
  SVC_LIMIT_EVENTS: '0',
  SVC_LIMIT_EVENT_BYTES: '0',
  SVC_LIMIT_ISSUE: '0',
  RUST_LOG: 'hub.health=error,hub.enroll=error,hub.mtls=error,info',
}

const CONCURRENCY = 32
const TOKENS = 40
/** One in so many well-framed requests has a connection of its own. */
const FRESH_EVERY = 10
/** How long a request that may be incomplete is waited for before our side is closed. */
const PATIENCE_MS = 100

/** Status of each code, as docs/protocol.md ERR has them. */
const CODES: Readonly<Record<string, number>> = {
  json_invalid: 400,
  request_invalid: 400,
  csr_invalid: 400,
  token_not_found: 401,
  token_consumed: 401,
  token_expired: 401,
  hostname_mismatch: 403,
  role_mismatch: 403,
  agent_already_enrolled: 409,
  ca_failed: 502,
  csr_cn_mismatch: 403,
  recovery_refused: 401,
  route_not_found: 404,
  entrega_not_found: 404,
  blob_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  request_id_conflict: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  unavailable: 503,
}
const FIELDS_OF_SUCCESS: ReadonlySet<string> = new Set([
  'status,version',
  'agent_id,ca_pem,cert_pem',
  'ca_pem,cert_pem',
  'entregas',
  'evento_id,hash_atual',
  'recipient',
])

export interface FuzzedHub {
  readonly hub: TestHub
  readonly host: EnrolledHost
  readonly facts: KnownFacts
}

/** Enrols a host and makes what a request needs to get past the first checks. */
export async function prepareFuzzedHub(hub: TestHub): Promise<FuzzedHub> {
  const { recipient } = await createAgeKeys()
  const host = await enrollHost(hub, 'fuzz.example', { recipient })
  return { hub, host, facts: await gatherFacts(hub, host, recipient) }
}

/** What came back, and what should not have. */
export class FuzzTally {
  readonly #counts = new Map<string, number>()
  readonly faults: string[] = []

  count(outcome: string): void {
    this.#counts.set(outcome, (this.#counts.get(outcome) ?? 0) + 1)
  }
  blame(request: MalformedRequest, fault: string): void {
    const bytes = JSON.stringify(request.bytes.subarray(0, 2000).toString('latin1'))
    this.faults.push(`${fault}: ${request.kind} on ${request.port}, ${request.security}: ${bytes}`)
  }
  describe(): string {
    const sorted = [...this.#counts].sort(([, a], [, b]) => b - a)
    return sorted.map(([outcome, count]) => `${outcome} ${count}`).join(', ')
  }
}

export async function sendAll(
  fuzzed: FuzzedHub,
  requests: readonly MalformedRequest[],
  tally: FuzzTally,
): Promise<void> {
  let next = 0
  const work = async (): Promise<void> => {
    const kept = new Map<string, Connection>()
    for (let request = requests[next]; request !== undefined; request = requests[next]) {
      next += 1
      const isFresh = !request.isFramed || next % FRESH_EVERY === 0
      const connections = isFresh ? new Map<string, Connection>() : kept
      await sendOne(fuzzed, request, connections, tally)
      if (isFresh) closeAll(connections)
    }
    closeAll(kept)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
}

function closeAll(connections: ReadonlyMap<string, Connection>): void {
  for (const { socket, tcp } of connections.values()) {
    socket.destroy()
    tcp.destroy()
  }
}

async function sendOne(
  fuzzed: FuzzedHub,
  request: MalformedRequest,
  kept: Map<string, Connection>,
  tally: FuzzTally,
): Promise<void> {
  const known = kept.get(request.port)
  const connection = known ?? (await open(targetOf(fuzzed, request)))
  kept.delete(request.port)
  if (connection === undefined) {
    tally.count('no connection')
    if (request.isFramed) tally.blame(request, 'no connection')
    return
  }
  const isHead = request.bytes.subarray(0, 5).toString('latin1') === 'HEAD '
  const result = await exchange(connection.socket, request.bytes, {
    isHead,
    untilClosed: !request.isFramed,
    endAfterMs: request.isFramed ? undefined : request.endsEarly ? 0 : PATIENCE_MS,
    writeTo: request.security === 'inside' ? connection.tcp : connection.socket,
  })
  if (result.isOpen) kept.set(request.port, connection)
  // A kept connection may have been closed by the hub since; the request then was not seen.
  if (known !== undefined && result.answers.length === 0)
    return sendOne(fuzzed, request, kept, tally)
  if (result.answers.length === 0) tally.count('closed')
  if (result.answers.length === 0 && request.isFramed) tally.blame(request, 'no answer')
  if (result.isHanging) tally.blame(request, 'neither answered nor closed')
  if (result.rest.length > 0 && request.security === 'identity') tally.blame(request, 'no HTTP')
  for (const answer of result.answers) {
    tally.count(nameOf(answer))
    const fault = findFault(answer, isHead)
    if (fault !== undefined) tally.blame(request, `${fault} (${JSON.stringify(answer)})`)
  }
}

function targetOf({ hub, host }: FuzzedHub, { port, security }: MalformedRequest): Target {
  const { tls } = host.mtls
  const target = { port: hub.ports[port] ?? 0 }
  if (tls === undefined || security === 'none') return target
  const { cert: _cert, key: _key, ...anonymous } = tls
  const isKnown = port === 'mtls' && security !== 'anonymous'
  return { ...target, tls: isKnown ? tls : anonymous }
}

function nameOf({ status, body }: Answer): string {
  const code = /^\{"error":"([a-z_]+)"\}$/.exec(body)?.[1]
  return code === undefined ? String(status) : `${status} ${code}`
}

/** Why an answer is not one that the protocol knows. */
function findFault({ status, headers, body }: Answer, isHead: boolean): string | undefined {
  if (status === 100) return undefined
  if (!/^[0-9a-f-]{36}$/.test(headers['x-request-id'] ?? '')) return 'no X-Request-Id'
  if (status === 304) return body === '' ? undefined : 'a body with 304'
  if (headers['content-type'] === 'application/octet-stream') return findBlobFault(headers, status)
  if (!/^application\/json(;|$)/.test(headers['content-type'] ?? '')) return 'not JSON'
  if (isHead) return Object.values(CODES).includes(status) || status === 200 ? undefined : 'status'
  if (status === 200) {
    const names = Object.keys(JSON.parse(body) as object).sort()
    return FIELDS_OF_SUCCESS.has(names.join(',')) ? undefined : 'fields of a success'
  }
  const { error, ...more } = JSON.parse(body) as Readonly<Record<string, string>>
  if (Object.keys(more).length > 0) return 'more than an error code'
  return CODES[error ?? ''] === status ? undefined : 'status and code'
}

/** Its content is the same whoever asks, and however. */
function findBlobFault(headers: Answer['headers'], status: number): string | undefined {
  const isWhole = status === 200 && /^sha-256=:.{44}:$/.test(headers['repr-digest'] ?? '')
  return isWhole ? undefined : 'a blob that is none'
}

async function gatherFacts(
  hub: TestHub,
  host: EnrolledHost,
  recipient: string,
): Promise<KnownFacts> {
  const sealed = await sealForHosts([{ agentId: host.agentId, recipient }], 'secret')
  const { csrPem } = await createKeyAndCsr(host.hostname)
  const names = Array.from({ length: TOKENS }, (_, index) => `host-${index}.example`)
  const tokens = names.map(async (hostname) => ({
    hostname,
    token: await hub.createToken({ hostname }),
  }))
  return {
    hostname: host.hostname,
    certPem: host.certPem,
    csrPem,
    deliveryId: (await createDelivery(hub, host.hostname, 'site')).id,
    recipient,
    cargoId: (await createSealedCargo(hub, 'secret', sealed)).carga_id,
    tokens: await Promise.all(tokens),
  }
}
