// Refusals of all kinds from one stranger or from ever new ones, who stand behind a proxy that the hub believes.

import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import {
  connect,
  exchange,
  send,
  type Target,
  type WireRequest,
} from '../../../test/support/wire-client.ts'

export type FloodedPort = 'health' | 'enroll' | 'mtls' | 'admin' | 'metrics'
export type Targets = Readonly<Record<FloodedPort, Target>>

const JSON_TYPE = { 'content-type': 'application/json' }
const post = (path: string, body: string, headers = JSON_TYPE): WireRequest => ({
  method: 'POST',
  path,
  body,
  headers,
})
const GUESS = JSON.stringify({ token: 'svct_guess', hostname: 'h', role: 'r', csr_pem: 'c' })
const RECOVERY = JSON.stringify({ cert_pem: 'c', csr_pem: 'c', proof: 'p' })

type Refused = readonly [FloodedPort, (nth: number) => WireRequest]
const REFUSED: readonly Refused[] = [
  ['health', (nth) => ({ path: `/stray/${nth}/${'x'.repeat(600)}` })],
  ['health', () => post('/health', '{}')],
  ['enroll', () => post('/v1/enroll', GUESS)],
  ['enroll', () => post('/v1/recover', RECOVERY)],
  ['enroll', () => post('/v1/enroll', '{')],
  ['enroll', () => post('/v1/enroll', '{}')],
  ['enroll', () => post('/v1/enroll', 'x', { 'content-type': 'text/plain' })],
  ['enroll', () => post('/v1/enroll', `"${'x'.repeat(70_000)}"`)],
  ['mtls', (nth) => ({ path: `/stray/${nth}` })],
  ['mtls', () => post('/v1/events', '{}')],
  ['admin', () => ({ path: '/v1/admin/tokens' })],
  ['metrics', () => ({ path: '/stray' })],
]
/** So many requests are one that is no HTTP, and one that is no TLS. */
const BROKEN_EVERY = 50

/** How many were sent. */
export async function floodWithRefusals(
  targets: Targets,
  count: number,
  addressOf: (nth: number) => string,
): Promise<number> {
  const plain = new HttpAgent({ keepAlive: true })
  // One of its own for each port: an identity is kept with the connection.
  const secure = {
    mtls: new HttpsAgent({ keepAlive: true }),
    admin: new HttpsAgent({ keepAlive: true }),
  }
  const agentOf = (port: FloodedPort): HttpAgent =>
    port === 'mtls' || port === 'admin' ? secure[port] : plain
  let sent = 0
  for (let nth = 0; nth < count; nth += 1) {
    const [port, requestOf] = REFUSED[nth % REFUSED.length] as Refused
    const request = requestOf(nth)
    const headers = { ...request.headers, 'x-forwarded-for': addressOf(nth) }
    const wire = { ...request, headers, agent: agentOf(port) }
    const { status } = await send(targets[port], wire).catch((error: unknown) => {
      throw new Error(`${nth}, ${port} ${request.path}`, { cause: error })
    })
    if (status < 400) throw new Error(`${port} ${request.path}: ${status}`)
    sent += 1
    if (nth % BROKEN_EVERY !== 0) continue
    for (const { port: brokenPort } of [targets.health, targets.mtls]) {
      const socket = await connect({ port: brokenPort })
      await exchange(socket, 'neither HTTP nor TLS\r\n\r\n', (received) => received !== '')
      socket.destroy()
    }
    sent += 2
  }
  for (const agent of [plain, ...Object.values(secure)]) agent.destroy()
  return sent
}
