// Who may use port 8443: docs/protocol.md AUT, and SRF-12 and SRF-13 on the wire.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Agent } from 'node:https'
import { describe, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { createDelivery } from '../support/deliveries.ts'
import { startDevCa } from '../support/dev-ca.ts'
import {
  createKeyAndCsr,
  enrollHost,
  type EnrolledHost,
  type Identity,
  readIdentity,
  withIdentity,
} from '../support/enrolled-host.ts'
import { HUB_NAME } from '../support/hub.ts'
import { startTestHub } from '../support/test-hub.ts'
import { waitUntil } from '../support/processes.ts'
import { useHub } from '../support/use-hub.ts'
import {
  assertOk,
  assertRefused,
  connectSecurely,
  exchange,
  post,
  send,
  type Target,
} from '../support/wire-client.ts'

const { ca, hub } = useHub()

const MANIFEST = { path: '/v1/manifest' }
const RAW_MANIFEST = `GET /v1/manifest HTTP/1.1\r\nHost: ${HUB_NAME}\r\n\r\n`
const hasWholeReply = (text: string): boolean => /\r\n\r\n[^]*\}$/.test(text)

/** The handshake, or the first use of the connection (TLS 1.3 refuses a client that late), fails without any HTTP. */
async function assertHandshakeFails(target: Target): Promise<void> {
  let socket: TLSSocket
  try {
    socket = await connectSecurely(target)
  } catch {
    return
  }
  assert.equal(await exchange(socket, RAW_MANIFEST), '')
}

/** Another identity of the same host, or a delivered certificate when a delivery is named. */
async function issue(host: EnrolledHost, entregaId?: string): Promise<Identity> {
  const { keyPem, csrPem } = await createKeyAndCsr(host.hostname)
  const body = { csr_pem: csrPem, ...(entregaId === undefined ? {} : { entrega_id: entregaId }) }
  const reply = await post(host.mtls, '/v1/certs/issue', body)
  assertOk(reply)
  return readIdentity(reply, keyPem)
}

describe('the TLS handshake', () => {
  test('[SRF-13] [AUT-1] fails without a client certificate, with TLS 1.2 and 1.3', async () => {
    const { caPem } = await enrollHost(hub, 'no-cert.example')
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const tls = { ca: caPem, servername: HUB_NAME, minVersion: version, maxVersion: version }
      await assertHandshakeFails({ port: hub.ports.mtls, tls })
    }
  })

  test('[SRF-13] [AUT-1] fails with a certificate of another CA, for the same CN', async () => {
    const host = await enrollHost(hub, 'same-name.example')
    await using otherCa = await startDevCa()
    await using otherHub = await startTestHub({ caEnvironment: otherCa.environment })
    const stranger = await enrollHost(otherHub, 'same-name.example')
    await assertHandshakeFails(withIdentity(hub, { ...stranger, caPem: host.caPem }))
    assertOk(await send(host.mtls, MANIFEST))
  })

  test('[SRF-13] fails with a certificate that belongs to another key', async () => {
    const host = await enrollHost(hub, 'stolen-cert.example')
    const { keyPem } = await createKeyAndCsr('stolen-cert.example')
    await assert.rejects(connectSecurely(withIdentity(hub, { ...host, keyPem })))
  })

  test('[SRF-12] works with TLS 1.2 and 1.3, prefers 1.3 and refuses 1.1', async () => {
    const host = await enrollHost(hub, 'versions.example')
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const bounds = { minVersion: version, maxVersion: version }
      assertOk(await send(withIdentity(hub, host, bounds), MANIFEST))
    }
    const free = await connectSecurely(withIdentity(hub, host, { minVersion: 'TLSv1.2' }))
    assert.equal(free.getProtocol(), 'TLSv1.3')
    free.destroy()
    const old = withIdentity(hub, host, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1' })
    await assert.rejects(connectSecurely(old))
  })

  test('[SRF-12] speaks HTTP/1.1 only, whatever the client offers', async () => {
    const host = await enrollHost(hub, 'alpn.example')
    const target = withIdentity(hub, host, { ALPNProtocols: ['h2', 'http/1.1'] })
    const socket = await connectSecurely(target)
    assert.equal(socket.alpnProtocol, 'http/1.1')
    socket.destroy()
  })

  test('[AUT-13] is enough for a client with leaf and intermediate, and for one with the leaf alone', async () => {
    const host = await enrollHost(hub, 'leaf-only.example')
    const [leaf = ''] = host.certPem.match(/-----BEGIN[^]+?-----END CERTIFICATE-----\n?/) ?? []
    assert.notEqual(leaf, host.certPem)
    assertOk(await send(host.mtls, MANIFEST))
    assertOk(await send(withIdentity(hub, { ...host, certPem: leaf }), MANIFEST))
  })

  test('[AUT-11] resumes no session, with TLS 1.2 and 1.3, whatever the client kept of the last one', async () => {
    const host = await enrollHost(hub, 'tickets.example')
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const bounds = { minVersion: version, maxVersion: version }
      const first = await connectSecurely(withIdentity(hub, host, bounds))
      const sessions = [first.getSession()]
      first.on('session', (session) => sessions.push(session))
      // What TLS 1.3 gives out comes after the handshake, so there has to be some traffic first.
      await exchange(first, RAW_MANIFEST, hasWholeReply)
      if (version === 'TLSv1.2') assert.equal(first.getTLSTicket(), undefined)
      first.destroy()
      for (const session of sessions) {
        const second = await connectSecurely(withIdentity(hub, host, { ...bounds, session }))
        assert.equal(second.isSessionReused(), false, version)
        second.destroy()
      }
    }
  })

  test('[SRF-4] [SRF-13] plain HTTP on the mutual TLS port gets no HTTP answer', async () => {
    await assert.rejects(send({ port: hub.ports.mtls }, MANIFEST))
  })
})

describe('the certificate', () => {
  test('[AUT-2] [ERR-12] 401 agent_not_registered for a CN that is no agent', async () => {
    // The second hub shares the CA, so the handshake is fine and the name is not known.
    await using otherHub = await startTestHub({ caEnvironment: ca.environment })
    const stranger = await enrollHost(otherHub, 'unknown.example')
    assertRefused(await send(withIdentity(hub, stranger), MANIFEST), 401, 'agent_not_registered')
  })

  test('[AUT-4] 401 agent_not_registered for a certificate of the CA that the hub did not obtain', async () => {
    await using otherHub = await startTestHub({ caEnvironment: ca.environment })
    const twin = await enrollHost(otherHub, 'twin.example')
    const host = await enrollHost(hub, 'twin.example')
    assertRefused(await send(withIdentity(hub, twin), MANIFEST), 401, 'agent_not_registered')
    assertOk(await send(host.mtls, MANIFEST))
  })

  test('[AUT-4] [ISS-8] 401 agent_not_registered for a delivered certificate', async () => {
    const host = await enrollHost(hub, 'delivered.example')
    const delivered = await issue(host, (await createDelivery(hub, host.hostname, 'site')).id)
    assertRefused(await send(withIdentity(hub, delivered), MANIFEST), 401, 'agent_not_registered')
    assertOk(await send(host.mtls, MANIFEST))
  })

  test('[AUT-4] 401 agent_not_registered for the hub’s own certificate', async () => {
    const host = await enrollHost(hub, 'not-the-hub.example')
    const keyPem = await readFile(`${hub.vaultRoot}/server.key`, 'utf8')
    const certPem = await readFile(`${hub.vaultRoot}/server.crt`, 'utf8')
    const asHub = withIdentity(hub, { keyPem, certPem, caPem: host.caPem })
    assertRefused(await send(asHub, MANIFEST), 401, 'agent_not_registered')
  })

  test('[AUT-3] [RES-9] [ERR-13] 401 agent_revoked after the agent was revoked', async () => {
    const host = await enrollHost(hub, 'revoked.example')
    assertOk(await send(host.mtls, MANIFEST))
    await hub.admin('POST', '/v1/admin/agentes/revoke', { agente: 'revoked.example' })
    assertRefused(await send(host.mtls, MANIFEST), 401, 'agent_revoked')
    const event = { tipo_evento: 'agent_started', payload: {} }
    assertRefused(await post(host.mtls, '/v1/events', event), 401, 'agent_revoked')
    assertRefused(await post(host.mtls, '/v1/certs/issue', {}), 401, 'agent_revoked')
    const shown = await hub.admin<{ revoked_at: string | null }>('POST', '/v1/admin/agentes/show', {
      agente: 'revoked.example',
    })
    assert.ok(shown.revoked_at)
  })

  test('[AUT-3] agent_revoked wins over agent_not_registered for an unknown certificate', async () => {
    await using otherHub = await startTestHub({ caEnvironment: ca.environment })
    const twin = await enrollHost(otherHub, 'revoked-twin.example')
    await enrollHost(hub, 'revoked-twin.example')
    await hub.admin('POST', '/v1/admin/agentes/revoke', { agente: 'revoked-twin.example' })
    assertRefused(await send(withIdentity(hub, twin), MANIFEST), 401, 'agent_revoked')
  })

  test('[AUT-12] [AUT-10] revoking cuts open connections, and the next one is refused', async () => {
    const host = await enrollHost(hub, 'cut.example')
    const socket = await connectSecurely(host.mtls)
    assert.match(await exchange(socket, RAW_MANIFEST, hasWholeReply), /^HTTP\/1\.1 200 /)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    await hub.admin('POST', '/v1/admin/agentes/revoke', { agente: 'cut.example' })
    await closed
    assertRefused(await send(host.mtls, MANIFEST), 401, 'agent_revoked')
  })

  test('[AUT-12] revoking one agent leaves the connections of others alone', async () => {
    const host = await enrollHost(hub, 'bystander.example')
    await enrollHost(hub, 'culprit.example')
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ...host.mtls.tls })
    assertOk(await send(host.mtls, { ...MANIFEST, agent }))
    const [socket] = Object.values(agent.freeSockets).flat()
    await hub.admin('POST', '/v1/admin/agentes/revoke', { agente: 'culprit.example' })
    assertOk(await send(host.mtls, { ...MANIFEST, agent }))
    const [again] = Object.values(agent.freeSockets).flat()
    assert.ok(socket !== undefined && again === socket)
    agent.destroy()
  })

  test('[AUT-8] nothing is superseded by being issued, and for a minute not by being used', async () => {
    const host = await enrollHost(hub, 'renews.example')
    assertOk(await send(host.mtls, MANIFEST))
    const second = withIdentity(hub, await issue(host))
    const third = withIdentity(hub, await issue(host))
    assertOk(await send(host.mtls, MANIFEST))
    assertOk(await send(third, MANIFEST))
    for (const target of [host.mtls, second, third]) assertOk(await send(target, MANIFEST))
  })

  test('[AUT-15] the handler acts for the agent of the certificate and for no other', async () => {
    const one = await enrollHost(hub, 'one.example')
    const other = await enrollHost(hub, 'other.example')
    const { id: entregaId } = await createDelivery(hub, other.hostname, 'theirs')
    const { csrPem } = await createKeyAndCsr('one.example')
    const asked = { csr_pem: csrPem, entrega_id: entregaId }
    assertRefused(await post(one.mtls, '/v1/certs/issue', asked), 404, 'entrega_not_found')
    assert.deepEqual((await send(one.mtls, MANIFEST)).json, { entregas: [] })
  })
})

describe('SVC_IDENTITY_MATCH=cn', () => {
  test('[AUT-14] [ENV-14] takes any certificate of the CA with the CN of an agent, but no revoked one', async () => {
    const environment = { SVC_IDENTITY_MATCH: 'cn' }
    await using lenient = await startTestHub({ caEnvironment: ca.environment, environment })
    await using otherHub = await startTestHub({ caEnvironment: ca.environment })
    const twin = await enrollHost(otherHub, 'adopted.example')
    const stranger = await enrollHost(otherHub, 'nobody.example')
    const host = await enrollHost(lenient, 'adopted.example')
    assertOk(await send(withIdentity(lenient, twin), MANIFEST))
    const refused = await send(withIdentity(lenient, stranger), MANIFEST)
    assertRefused(refused, 401, 'agent_not_registered')
    await lenient.admin('POST', '/v1/admin/agentes/revoke', { agente: 'adopted.example' })
    await enrollHost(lenient, 'adopted.example', { reenroll: true })
    assertRefused(await send(host.mtls, MANIFEST), 401, 'agent_revoked')
  })
})

describe('the order of checks on the port', () => {
  test('[SRF-9] authentication comes before route, method, size, media type, JSON and shape', async () => {
    const host = await enrollHost(hub, 'early.example')
    await hub.admin('POST', '/v1/admin/agentes/revoke', { agente: 'early.example' })
    const json = { 'content-type': 'application/json' }
    const large = 'x'.repeat(65 * 1024)
    for (const wire of [
      { path: '/v1/nothing' },
      { path: '/health' },
      { method: 'DELETE', path: '/v1/manifest' },
      { method: 'POST', path: '/v1/events', headers: json, body: large },
      { method: 'POST', path: '/v1/events', body: 'text' },
      { method: 'POST', path: '/v1/events', headers: json, body: '{' },
      { method: 'POST', path: '/v1/events', headers: json, body: '{}' },
    ]) {
      assertRefused(await send(host.mtls, wire), 401, 'agent_revoked')
    }
  })
})

test('[AUT-8] [CLI-28] the first use of a newer identity makes it the current one at once', async () => {
  // What follows after the minute of grace is in src/hub/domain/decide-authentication.test.ts.
  const host = await enrollHost(hub, 'noted.example')
  assertOk(await send(host.mtls, MANIFEST))
  const newer = await issue(host)
  assertOk(await send(withIdentity(hub, newer), MANIFEST))
  const serial = new X509Certificate(newer.certPem).serialNumber.toLowerCase()
  await waitUntil('the newer identity to be the current one', async () => {
    const path = '/v1/admin/agentes/show'
    const agent = await hub.admin<{ cert_serial: string }>('POST', path, { agente: host.hostname })
    return agent.cert_serial === serial ? true : undefined
  })
})
