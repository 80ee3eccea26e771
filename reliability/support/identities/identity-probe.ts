// One request at a time with one identity, on a connection that was opened before or on a new one.

import type { TLSSocket } from 'node:tls'
import type { AdminOperations } from '../../../src/protocol/admin/operations.ts'
import type { Identity, KeyAndCsr } from '../../../test/support/enrolled-host.ts'
import { HUB_NAME, type HubPorts } from '../../../test/support/hub.ts'
import type { HubProcess } from '../../../test/support/hub-process.ts'
import { connectSecurely, exchange, type Target } from '../../../test/support/wire-client.ts'
import type { Random } from '../../../test/simulation/seeded-random.ts'
import { pickOne } from '../pick.ts'

/** What came back: `200`, `401 agent_revoked`, or `cut` when nothing did. */
export type Answer = string

export const CUT: Answer = 'cut'

export type RouteName = 'manifest' | 'events' | 'issue'

export function pickRoute(random: Random): RouteName {
  return pickOne<RouteName>(random, ['manifest', 'events', 'issue'])
}

/** A hub as the support of the tests knows it. */
export function hubOf(
  ports: HubPorts,
  admin: AdminOperations,
): Pick<HubProcess, 'ports' | 'createToken'> {
  return {
    ports,
    createToken: async ({ role = 'web', ...request }) =>
      (await admin.createToken({ role, ...request })).token,
  }
}

export class OpenConnection {
  readonly #socket: TLSSocket

  private constructor(socket: TLSSocket) {
    this.#socket = socket
    // It may be cut while nobody asks.
    socket.on('error', () => undefined)
    // Each exchange leaves two listeners for the end behind.
    socket.setMaxListeners(0)
  }

  /** Rejects when the handshake fails. */
  static async open(target: Target): Promise<OpenConnection> {
    return new OpenConnection(await connectSecurely(target))
  }

  async ask(route: RouteName, { csrPem }: Pick<KeyAndCsr, 'csrPem'>): Promise<Answer> {
    if (this.#socket.destroyed) return CUT
    const reply = await exchange(this.#socket, requestText(route, csrPem), isWhole)
    return answerOf(reply)
  }

  close(): void {
    this.#socket.destroy()
  }
}

/** A handshake that fails is `cut` too. */
export async function askOnce(
  target: Target,
  route: RouteName,
  csr: Pick<KeyAndCsr, 'csrPem'>,
): Promise<Answer> {
  let connection: OpenConnection
  try {
    connection = await OpenConnection.open(target)
  } catch {
    return CUT
  }
  const answer = await connection.ask(route, csr)
  connection.close()
  return answer
}

/** Of an identity at a port. */
export function targetOf(port: number, { certPem, keyPem, caPem }: Identity): Target {
  return { port, tls: { ca: caPem, cert: certPem, key: keyPem, servername: HUB_NAME } }
}

function requestText(route: RouteName, csrPem: string): string {
  if (route === 'manifest') return `GET /v1/manifest HTTP/1.1\r\nHost: ${HUB_NAME}\r\n\r\n`
  const [path, body] =
    route === 'events'
      ? ['/v1/events', { tipo_evento: 'noted', payload: {} }]
      : ['/v1/certs/issue', { csr_pem: csrPem }]
  const text = JSON.stringify(body)
  const headers = `Host: ${HUB_NAME}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}`
  return `POST ${path} HTTP/1.1\r\n${headers}\r\n\r\n${text}`
}

function isWhole(received: string): boolean {
  return /\r\n\r\n[^]*\}$/.test(received)
}

function answerOf(reply: string): Answer {
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(reply)?.[1]
  if (status === undefined) return CUT
  const code = /\{"error":"([a-z_]+)"\}$/.exec(reply)?.[1]
  return code === undefined ? status : `${status} ${code}`
}
