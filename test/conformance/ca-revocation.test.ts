// Revoking an agent revokes its certificates at the CA: docs/protocol.md REV.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { describe, test } from 'node:test'
import type { AdminAgent, AdminCaRevocation } from '../../src/protocol/admin/views.ts'
import { readEvents } from '../support/audit-log.ts'
import { createDelivery } from '../support/deliveries.ts'
import { createKeyAndCsr, enrollHost, type EnrolledHost } from '../support/enrolled-host.ts'
import type { TestHub } from '../support/hub.ts'
import { startHubProcess } from '../support/hub-process.ts'
import { startTestCa, startTestHub } from '../support/test-hub.ts'
import { waitUntil } from '../support/processes.ts'
import { openRawCaClient, type RawCaClient } from '../support/raw-ca-client.ts'
import { startScriptedCa } from '../support/scripted-ca.ts'
import { assertOk, assertRefused, post, send } from '../support/wire-client.ts'

const HOST = 'web-1.example'

const serialOf = (pem: string): string =>
  new X509Certificate(pem).serialNumber.toLowerCase().replace(/^(?:00)+/, '')

async function issue(host: EnrolledHost, entregaId?: string): Promise<string> {
  const { csrPem } = await createKeyAndCsr(host.hostname)
  const reply = await post(host.mtls, '/v1/certs/issue', {
    csr_pem: csrPem,
    ...(entregaId === undefined ? {} : { entrega_id: entregaId }),
  })
  assertOk(reply)
  return serialOf(String(reply.json['cert_pem']))
}

/** The serials of an identity, a renewed one and a delivered certificate. */
async function enrolWithThree(
  hub: TestHub,
  hostname = HOST,
): Promise<{ readonly host: EnrolledHost; readonly serials: readonly string[] }> {
  const host = await enrollHost(hub, hostname)
  const { id } = await createDelivery(hub, hostname, `site-${hostname.split('.')[0]}`)
  const serials = [serialOf(host.certPem), await issue(host), await issue(host, id)]
  return { host, serials }
}

const revoke = (hub: TestHub, agente: string): Promise<AdminAgent> =>
  hub.admin<AdminAgent>('POST', '/v1/admin/agentes/revoke', { agente })

const show = (hub: TestHub, agente: string): Promise<AdminAgent> =>
  hub.admin<AdminAgent>('POST', '/v1/admin/agentes/show', { agente })

async function untilNoneWaits(hub: TestHub, agente = HOST): Promise<AdminAgent> {
  return waitUntil('the CA to have revoked all', async () => {
    const agent = await show(hub, agente)
    return agent.ca_revocations_waiting === 0 ? agent : undefined
  })
}

async function serialsIn(hub: TestHub, type: string): Promise<readonly string[]> {
  return (await readEvents(hub, type)).map(({ payload }) => String(payload['serial']))
}

const sorted = (serials: readonly string[]): readonly string[] =>
  serials.toSorted((a, b) => a.localeCompare(b))

/** A CA revokes a certificate once: another refusal than that it was shows that it is not. */
async function isRevoked(raw: RawCaClient, url: string, serialHex: string): Promise<boolean> {
  const serial = BigInt(`0x${serialHex}`).toString()
  const ott = await raw.token({ sub: serial, aud: `${url}/1.0/revoke` })
  const { status } = await raw.post('/1.0/revoke', { serial, ott, passive: true, reasonCode: 0 })
  return status === 400
}

describe('revoking at the CA', () => {
  test('[REV-1] [REV-3] [REV-4] [REV-7] all certificates of a revoked agent, and of no other', async () => {
    await using ca = await startTestCa()
    await using raw = await openRawCaClient(ca)
    await using hub = await startTestHub({ caEnvironment: ca.environment })
    const { serials } = await enrolWithThree(hub)
    const other = await enrollHost(hub, 'web-2.example')
    const revoked = await hub.svc('agente', 'revoke', HOST, '--json')
    assert.equal(revoked.status, 0, revoked.stderr)
    await untilNoneWaits(hub)
    for (const serial of serials) assert.ok(await isRevoked(raw, ca.url, serial))
    assert.equal(await isRevoked(raw, ca.url, serialOf(other.certPem)), false)
    assert.deepEqual(sorted(await serialsIn(hub, 'certificate_revoked_at_ca')), sorted(serials))
    assert.match(hub.logText(), /"module":"hub.revocations".*Certificate revoked at the CA/)
  })

  test('[REV-1] [REV-6] [REV-8] [REV-10] [REV-11] a CA that is away holds up no revocation, and gets it when it is back, from the next hub', async () => {
    await using ca = await startTestCa()
    await using hub = await startHubProcess({ caEnvironment: ca.environment })
    const { host, serials } = await enrolWithThree(hub)
    await ca.stop()
    const began = Date.now()
    assert.equal((await revoke(hub, HOST)).ca_revocations_waiting, 3)
    assert.ok(Date.now() - began < 5000, 'the answer does not wait for the CA')
    assertRefused(await send(host.mtls, { path: '/v1/manifest' }), 401, 'agent_revoked')
    const waiting = await waitUntil('a reason', async () => {
      const agent = await show(hub, HOST)
      return agent.ca_revocation_reason === null ? undefined : agent
    })
    assert.match(String(waiting.ca_revocation_reason), /the CA cannot be reached/)
    const listed = await hub.svc('agente', 'revocations', '--json')
    const { revocations } = JSON.parse(listed.stdout) as { revocations: AdminCaRevocation[] }
    assert.deepEqual(
      Object.keys(revocations[0] ?? {}).join(', '),
      'id, agente_id, hostname, serial, purpose, state, revoked_at, not_after, reason',
    )
    assert.deepEqual(sorted(revocations.map(({ serial }) => serial)), sorted(serials))
    assert.deepEqual([...new Set(revocations.map(({ state }) => state))], ['waiting'])
    assert.deepEqual(sorted(revocations.map(({ purpose }) => purpose)), [
      'delivery',
      'identity',
      'identity',
    ])
    const table = await hub.svc('agente', 'list', '--wide')
    assert.match(table.stdout, /^HOSTNAME .* CA_WAITING +ID +LABELS\n.* 3 +[0-9a-f-]{36} +-\n$/)
    await hub.stop('SIGKILL')
    await ca.start()
    await hub.start()
    await untilNoneWaits(hub)
    assert.deepEqual(sorted(await serialsIn(hub, 'certificate_revoked_at_ca')), sorted(serials))
  })

  test('[REV-4] [REV-8] a hub that is killed after the CA revoked and before it knows asks again, and records it once', async () => {
    await using ca = await startScriptedCa(
      () => ({ kind: 'sign' }),
      ({ number }) => ({ kind: number === 1 ? 'revoke_and_silence' : 'revoke' }),
    )
    await using hub = await startHubProcess({ caEnvironment: ca.environment })
    const { serials } = await enrolWithThree(hub)
    await revoke(hub, HOST)
    await waitUntil('the CA to have revoked one', () => (ca.revoked.size === 1 ? true : undefined))
    await hub.stop('SIGKILL')
    await hub.start()
    await untilNoneWaits(hub)
    assert.equal(ca.revoked.size, 3)
    assert.equal(ca.revokeCalls.length, 4)
    assert.deepEqual(sorted(await serialsIn(hub, 'certificate_revoked_at_ca')), sorted(serials))
    const verified = await hub.svc('evento', 'list', '--verify')
    assert.equal(verified.status, 0)
  })

  test('[REV-5] [REV-9] a CA that refuses is asked once, is in every list, and is asked again by revoking once more', async () => {
    let isSupported = false
    await using ca = await startScriptedCa(
      () => ({ kind: 'sign' }),
      () =>
        isSupported
          ? { kind: 'revoke' }
          : { kind: 'answer', status: 501, body: '{"status":501,"message":"no database"}' },
    )
    await using hub = await startTestHub({ caEnvironment: ca.environment })
    const { serials, host } = await enrolWithThree(hub)
    await revoke(hub, HOST)
    const agent = await untilNoneWaits(hub)
    assert.equal(agent.ca_revocations_refused, 3)
    assert.match(String(agent.ca_revocation_reason), /refused to revoke|could not revoke/)
    assert.deepEqual(sorted(await serialsIn(hub, 'certificate_not_revoked_at_ca')), sorted(serials))
    await hub.stop()
    await hub.start()
    const removed = await hub.svc('agente', 'remove', HOST)
    assert.equal(removed.status, 0, removed.stderr)
    const list = await hub.svc('agente', 'revocations')
    assert.equal(list.stdout.split('\n').filter((line) => line.includes(' refused ')).length, 3)
    assert.equal(ca.revokeCalls.length, 3)
    isSupported = true
    const again = await hub.svc('agente', 'revoke', host.agentId)
    assert.equal(again.status, 0, again.stderr)
    await untilNoneWaits(hub, host.agentId)
    assert.equal(ca.revoked.size, 3)
  })

  test('[REV-1] [REV-9] what svc revoked without a hub is done at its start, and a host that came back is not touched', async () => {
    await using ca = await startScriptedCa(() => ({ kind: 'sign' }))
    await using hub = await startTestHub({ caEnvironment: ca.environment })
    const { serials } = await enrolWithThree(hub)
    await hub.stop()
    const revoked = await hub.svc('agente', 'revoke', HOST)
    assert.equal(revoked.status, 0, revoked.stderr)
    assert.equal(ca.revokeCalls.length, 0)
    await hub.start()
    const back = await enrollHost(hub, HOST, { reenroll: true })
    await untilNoneWaits(hub)
    assertOk(await send(back.mtls, { path: '/v1/manifest' }))
    assert.deepEqual(sorted(await serialsIn(hub, 'certificate_revoked_at_ca')), sorted(serials))
    const decimal = BigInt(`0x${serialOf(back.certPem)}`).toString()
    assert.equal(ca.revoked.has(decimal), false)
  })

  test('[REV-7] a CA that hangs on a revocation holds up neither enrolment nor the end of the hub', async () => {
    await using ca = await startScriptedCa(
      () => ({ kind: 'sign' }),
      () => ({ kind: 'silence' }),
    )
    await using hub = await startTestHub({ caEnvironment: ca.environment })
    await enrolWithThree(hub)
    await revoke(hub, HOST)
    await waitUntil('the call', () => (ca.revokeCalls.length === 1 ? true : undefined))
    await Promise.all(
      Array.from({ length: 10 }, (_, index) => enrollHost(hub, `host-${index}.example`)),
    )
    assert.equal(ca.revokeCalls.length, 1)
    const began = Date.now()
    assert.equal((await hub.stop()).status, 0)
    assert.ok(Date.now() - began < 8000, 'it does not wait the ten seconds of a call')
  })
})
