// A certificate that expires while its connection is open: docs/protocol.md AUT-6, with certificates of a few seconds.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { Agent } from 'node:https'
import { test } from 'node:test'
import { startDevCa } from '../support/dev-ca.ts'
import { enrollHost } from '../support/enrolled-host.ts'
import { startTestHub } from '../support/test-hub.ts'
import { waitUntil } from '../support/processes.ts'
import { assertOk, assertRefused, post, send, type WireReply } from '../support/wire-client.ts'

test('[AUT-6] [AUT-10] [ERR-14] 401 certificate_expired from the end of the certificate on, on the connection that it opened', async () => {
  await using ca = await startDevCa({ certDuration: '10s' })
  await using hub = await startTestHub({ caEnvironment: ca.environment })
  const host = await enrollHost(hub, 'expires.example')
  const endMs = new X509Certificate(host.certPem).validToDate.getTime()
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ...host.mtls.tls })
  let connections = 0
  const createConnection = agent.createConnection.bind(agent)
  agent.createConnection = (...args) => {
    connections += 1
    return createConnection(...args)
  }
  const ask = (path: string): Promise<WireReply> => send(host.mtls, { path, agent })

  assertOk(await ask('/v1/manifest'))
  const refused = await waitUntil('the certificate to expire', async () => {
    const sentMs = Date.now()
    const reply = await ask('/v1/manifest')
    if (reply.status !== 200) return reply
    assert.ok(sentMs < endMs, `served ${sentMs - endMs} ms after the end`)
    return undefined
  })
  assert.ok(Date.now() >= endMs, 'it was refused before its end')
  assertRefused(refused, 401, 'certificate_expired')
  assertRefused(await ask('/v1/manifest'), 401, 'certificate_expired')
  assertRefused(await ask('/v1/nothing'), 401, 'certificate_expired')
  assert.equal(connections, 1, 'all of it went over one connection')
  agent.destroy()
  const event = { tipo_evento: 'agent_started', payload: {} }
  await assert.rejects(
    post(host.mtls, '/v1/events', event),
    'a new connection fails in the handshake',
  )
})
