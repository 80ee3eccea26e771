// Politicas while the CA takes its time, or has a will of its own; and a hub that dies: docs/protocol.md POL.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CaBehaviour } from '../fakes/ca-server.ts'
import { readEvents } from '../support/audit-log.ts'
import { createDelivery } from '../support/deliveries.ts'
import {
  createKeyAndCsr,
  enrollHost,
  readIdentity,
  withIdentity,
} from '../support/enrolled-host.ts'
import type { TestHub } from '../support/hub.ts'
import { startHubProcess } from '../support/hub-process.ts'
import { startTestHub } from '../support/test-hub.ts'
import { waitUntil } from '../support/processes.ts'
import { createGate, startScriptedCa } from '../support/scripted-ca.ts'
import { assertOk, assertRefused, post, send } from '../support/wire-client.ts'

const setPolicy = (hub: TestHub, rest: object): Promise<unknown> =>
  hub.admin('POST', '/v1/admin/politicas', { role: 'web', ...rest })

const countOf = async (hub: TestHub, tipo: string): Promise<number> =>
  (await readEvents(hub, tipo)).length

describe('a politica', () => {
  test('[POL-10] that forbids a name while the CA signs keeps the certificate from the agent', async () => {
    const gate = createGate()
    let behaviour: CaBehaviour = { kind: 'sign' }
    await using ca = await startScriptedCa(() => behaviour)
    await using hub = await startTestHub({ caEnvironment: ca.environment })
    const host = await enrollHost(hub, 'slow.example')
    const { id } = await createDelivery(hub, host.hostname, 'slow', ['www.shop.example'])
    const before = await countOf(hub, 'certificate_issued')
    behaviour = { kind: 'sign_after', released: gate.opened }
    const { csrPem } = await createKeyAndCsr(host.hostname)
    const issued = post(host.mtls, '/v1/certs/issue', { csr_pem: csrPem, entrega_id: id })
    await waitUntil('the CA to be called', () => (ca.hostCalls().length > 1 ? true : undefined))
    await setPolicy(hub, { sans_permitidos: [] })
    gate.open()
    assertRefused(await issued, 403, 'csr_cn_mismatch')
    assert.equal(await countOf(hub, 'certificate_issued'), before)
  })

  test('[POL-7] whose cert_ttl the CA passes over is ca_failed, and a shorter life is taken', async () => {
    // It signs for an hour, whatever it is asked.
    await using ca = await startScriptedCa(() => ({ kind: 'sign' }))
    await using hub = await startTestHub({ caEnvironment: ca.environment })
    await assert.rejects(
      setPolicy(hub, { cert_ttl: 1800 }),
      /cert_ttl_refused.*is valid until \S+, and the hub asked for 1800 s/,
    )
    await setPolicy(hub, { cert_ttl: 1800, untested: true })
    const trials = ca.hostCalls().length
    // With the life, and without it.
    assert.equal(trials, 2)
    const hostname = 'longer.example'
    const token = await hub.createToken({ hostname })
    const { csrPem } = await createKeyAndCsr(hostname)
    const body = { token, hostname, role: 'web', csr_pem: csrPem }
    const refused = await post({ port: hub.ports.enroll }, '/v1/enroll', body)
    assertRefused(refused, 502, 'ca_failed')
    assert.match(hub.logText(), /is valid until \S+, and the hub asked for 1800 s/)
    await setPolicy(hub, { cert_ttl: 7200, untested: true })
    assertOk(await post({ port: hub.ports.enroll }, '/v1/enroll', body))
    assert.deepEqual(
      ca
        .hostCalls()
        .slice(trials)
        .map(({ notAfter }) => notAfter),
      ['1800s', '7200s'],
    )
  })
})

describe('a cert_ttl', () => {
  test('[POL-19] that nobody can try, because the CA is away or signs for no such name, is set only untested', async () => {
    let behaviour: CaBehaviour = { kind: 'sign' }
    await using ca = await startScriptedCa(() => behaviour)
    await using hub = await startTestHub({ caEnvironment: ca.environment })
    const answers: [status: number, words: RegExp][] = [
      [503, /cert_ttl_untested.*signs certificates of 2h: the CA could not sign \(503\): gone/],
      [403, /cert_ttl_untested.*signs certificates of 2h: the CA refused to sign \(403\): gone/],
    ]
    for (const [status, words] of answers) {
      behaviour = { kind: 'answer', status, body: '{"message":"gone"}' }
      await assert.rejects(setPolicy(hub, { cert_ttl: 7200 }), words)
    }
    await setPolicy(hub, { cert_ttl: 7200, untested: true })
  })

  test('[API-70] an entrega that waits for such a CA says so, in the words of the CA', async () => {
    let behaviour: CaBehaviour = { kind: 'sign' }
    await using ca = await startScriptedCa(() => behaviour)
    await using hub = await startTestHub({ caEnvironment: ca.environment })
    const host = await enrollHost(hub, 'waits.example')
    const { id } = await createDelivery(hub, host.hostname, 'waits')
    await setPolicy(hub, { cert_ttl: 7200, untested: true })
    const list = async (): Promise<unknown[]> => {
      const { entregas } = await hub.admin<{ entregas: Record<string, unknown>[] }>(
        'GET',
        '/v1/admin/entregas',
      )
      return entregas.map(({ status, erro, waiting_reason, waiting_reason_at }) => [
        status,
        erro,
        waiting_reason,
        typeof waiting_reason_at,
      ])
    }
    assert.deepEqual(await list(), [['pendente', null, null, 'object']])
    behaviour = { kind: 'answer', status: 403, body: '{"message":"more than the maximum"}' }
    const { csrPem } = await createKeyAndCsr(host.hostname)
    const issue = () => post(host.mtls, '/v1/certs/issue', { csr_pem: csrPem, entrega_id: id })
    assertRefused(await issue(), 502, 'ca_failed')
    const reason =
      'ca_failed: the CA refused to sign (403): more than the maximum (policy web asks for 2h)'
    assert.deepEqual(await list(), [['pendente', null, reason, 'string']])
    behaviour = { kind: 'sign' }
    assertOk(await issue())
    assert.deepEqual(await list(), [['em_andamento', null, null, 'object']])
  })

  test('[POL-19] is not tried by a rehearsal', async () => {
    await using ca = await startScriptedCa(() => ({ kind: 'sign' }))
    await using hub = await startTestHub({ caEnvironment: ca.environment })
    await setPolicy(hub, { cert_ttl: 1800, dry_run: true })
    assert.deepEqual(ca.hostCalls(), [])
  })
})

describe('a hub that dies', () => {
  test('[POL-13] before an enrolment is committed has made no entrega, and after the reply has made each once', async () => {
    const gate = createGate()
    let behaviour: CaBehaviour = { kind: 'sign_after', released: gate.opened }
    await using ca = await startScriptedCa(() => behaviour)
    await using hub = await startHubProcess({ caEnvironment: ca.environment })
    const cargo = { tipo: 'csr_cert', agentes: [], roles: [], sans: [], unassigned: true }
    const cargas = []
    for (const nome of ['one', 'two', 'three']) {
      const made = await hub.admin<{ carga_id: string }>('POST', '/v1/admin/cargas', {
        ...cargo,
        nome,
      })
      cargas.push(made.carga_id)
    }
    await setPolicy(hub, { cargas_automaticas: cargas })
    const hostname = 'killed.example'
    const token = await hub.createToken({ hostname })
    const { keyPem, csrPem } = await createKeyAndCsr(hostname)
    const body = { token, hostname, role: 'web', csr_pem: csrPem }
    const lost = assert.rejects(post({ port: hub.ports.enroll }, '/v1/enroll', body))
    await waitUntil('the CA to be called', () => (ca.hostCalls().length > 0 ? true : undefined))
    await hub.stop('SIGKILL')
    gate.open()
    await lost
    behaviour = { kind: 'sign' }
    await hub.start()
    const list = (): Promise<{ entregas: { carga_id: string }[] }> =>
      hub.admin('GET', '/v1/admin/entregas')
    assert.deepEqual((await list()).entregas, [])

    const reply = await post({ port: hub.ports.enroll }, '/v1/enroll', body)
    assertOk(reply)
    await hub.stop('SIGKILL')
    await hub.start()
    const target = withIdentity(hub, readIdentity(reply, keyPem))
    const manifest = await send(target, { path: '/v1/manifest' })
    assertOk(manifest)
    const entries = manifest.json['entregas'] as { carga_id: string }[]
    assert.deepEqual(
      entries.map(({ carga_id }) => carga_id),
      cargas,
    )
    assert.equal((await list()).entregas.length, 3)
  })
})
