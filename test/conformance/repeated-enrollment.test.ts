// Enrolling again: the same request after a lost reply, the same host after it was rebuilt, the same token guessed with.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createDelivery, findDelivery } from '../support/deliveries.ts'
import {
  createKeyAndCsr,
  enrollHost,
  type KeyAndCsr,
  readIdentity,
  withIdentity,
} from '../support/enrolled-host.ts'
import { runTool } from '../support/processes.ts'
import type { TestHub } from '../support/hub.ts'
import { startHubProcess } from '../support/hub-process.ts'
import { useHub } from '../support/use-hub.ts'
import { assertOk, assertRefused, post, send, type WireReply } from '../support/wire-client.ts'

const { ca, hub } = useHub()

interface Enrollment {
  readonly token: string
  readonly hostname: string
  readonly csr: KeyAndCsr
  readonly role?: string
  readonly idempotencyKey?: string
}

function enroll(
  { token, hostname, csr, role = 'web', idempotencyKey }: Enrollment,
  at: TestHub = hub,
): Promise<WireReply> {
  return send(
    { port: at.ports.enroll },
    {
      method: 'POST',
      path: '/v1/enroll',
      headers: {
        'content-type': 'application/json',
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      body: JSON.stringify({ token, hostname, role, csr_pem: csr.csrPem }),
    },
  )
}

async function prepare(
  hostname: string,
  at: TestHub = hub,
): Promise<Required<Omit<Enrollment, 'role'>>> {
  const token = await at.createToken({ hostname })
  return {
    token,
    hostname,
    csr: await createKeyAndCsr(hostname),
    idempotencyKey: `key of ${hostname}`,
  }
}

describe('[ENR-17] a request that is repeated', () => {
  test('[ENR-20] is known by the bytes of its CSR, however they are written, and needs no other check of it', async () => {
    const enrollment = await prepare('rewrapped')
    const first = await enroll(enrollment)
    assertOk(first)
    const lines = enrollment.csr.csrPem.trim().split('\n')
    const [head = '', foot = ''] = [lines[0], lines.at(-1)]
    const csrPem = `${head}\n${lines.slice(1, -1).join('')}\n${foot}\n`
    const again = await enroll({ ...enrollment, csr: { ...enrollment.csr, csrPem } })
    assert.equal(again.text, first.text)
    const other = { ...enrollment, csr: { ...enrollment.csr, csrPem: `${head}\nAAAA\n${foot}\n` } }
    assertRefused(await enroll(other), 401, 'token_consumed')
  })

  test('with the same Idempotency-Key gets the same answer, and enrols nobody twice', async () => {
    const enrollment = await prepare('repeated')
    const first = await enroll(enrollment)
    assertOk(first)
    const again = await enroll(enrollment)
    assertOk(again)
    assert.deepEqual(again.json, first.json)
    const { agentes } = await hub.admin<{ agentes: { hostname: string }[] }>(
      'GET',
      '/v1/admin/agentes',
    )
    assert.equal(agentes.filter(({ hostname }) => hostname === 'repeated').length, 1)
  })

  test('sixteen times at once gets one certificate', async () => {
    const enrollment = await prepare('at-once')
    const replies = await Promise.all(Array.from({ length: 16 }, () => enroll(enrollment)))
    for (const reply of replies) assertOk(reply)
    assert.equal(new Set(replies.map(({ json }) => json['cert_pem'])).size, 1)
  })

  const others: readonly [
    string,
    (e: Required<Omit<Enrollment, 'role'>>) => Promise<Enrollment>,
  ][] = [
    ['without the header', async ({ token, hostname, csr }) => ({ token, hostname, csr })],
    ['with another key', async (e) => ({ ...e, idempotencyKey: 'another' })],
    ['with an empty key', async (e) => ({ ...e, idempotencyKey: '' })],
    ['with another CSR', async (e) => ({ ...e, csr: await createKeyAndCsr(e.hostname) })],
    ['with another role', async (e) => ({ ...e, role: 'db' })],
  ]
  for (const [index, [how, change]] of others.entries()) {
    test(`${how} is 401 token_consumed`, async () => {
      const enrollment = await prepare(`not-the-same-${index}`)
      assertOk(await enroll(enrollment))
      assertRefused(await enroll(await change(enrollment)), 401, 'token_consumed')
    })
  }

  test('is token_consumed once its agent is revoked', async () => {
    const enrollment = await prepare('revoked-since')
    assertOk(await enroll(enrollment))
    await hub.admin('POST', '/v1/admin/agentes/revoke', { agente: 'revoked-since' })
    assertRefused(await enroll(enrollment), 401, 'token_consumed')
  })

  test('is token_consumed once its host is enrolled again, and once it is removed', async () => {
    const enrollment = await prepare('again-since')
    assertOk(await enroll(enrollment))
    await enrollHost(hub, 'again-since', { reenroll: true })
    assertRefused(await enroll(enrollment), 401, 'token_consumed')
    await hub.admin('POST', '/v1/admin/agentes/revoke', { agente: 'again-since' })
    await hub.admin('POST', '/v1/admin/agentes/remove', { agente: 'again-since' })
    assertRefused(await enroll(enrollment), 401, 'token_consumed')
  })

  test('is answered again by a hub that was killed in between', async () => {
    await using killed = await startHubProcess({ caEnvironment: ca.environment })
    const enrollment = await prepare('across-a-crash', killed)
    const first = await enroll(enrollment, killed)
    assertOk(first)
    await killed.stop('SIGKILL')
    await killed.start()
    assert.deepEqual((await enroll(enrollment, killed)).json, first.json)
  })
})

describe('[TOK-7] a token that comes with the wrong names', () => {
  for (const [kind, wrong, code] of [
    ['hostname', { hostname: 'somebody-else' }, 'hostname_mismatch'],
    ['role', { role: 'db' }, 'role_mismatch'],
  ] as const) {
    test(`ends at the tenth wrong ${kind}`, async () => {
      const enrollment = await prepare(`guessed-by-${kind}`)
      for (let attempt = 1; attempt <= 10; attempt += 1) {
        assertRefused(await enroll({ ...enrollment, ...wrong }), 403, code)
      }
      assertRefused(await enroll(enrollment), 401, 'token_expired')
    })
  }

  test('is good after nine', async () => {
    const enrollment = await prepare('nine-times')
    for (let attempt = 1; attempt <= 9; attempt += 1) {
      assertRefused(await enroll({ ...enrollment, role: 'db' }), 403, 'role_mismatch')
    }
    assertOk(await enroll(enrollment))
  })
})

describe('[ENR-18] [ENR-19] a host that is enrolled again', () => {
  test('keeps its id, gets its deliveries anew, and the old ones end when those are installed', async () => {
    const host = await enrollHost(hub, 'rebuilt')
    const installed = await createDelivery(hub, 'rebuilt', 'installed')
    const pending = await createDelivery(hub, 'rebuilt', 'pending')
    const report = { tipo_evento: 'entrega_instalada', payload: {} }
    assertOk(await post(host.mtls, '/v1/events', { ...report, entrega_id: installed.id }))

    const rebuilt = await enrollHost(hub, 'rebuilt', { reenroll: true })
    assert.equal(rebuilt.agentId, host.agentId)
    const manifest = await send(rebuilt.mtls, { path: '/v1/manifest' })
    const entries = manifest.json['entregas'] as { id: string; nome: string }[]
    assert.deepEqual(entries.map(({ nome }) => nome).sort(), ['installed', 'pending'])
    assert.ok(entries.every(({ id }) => id !== installed.id && id !== pending.id))
    assert.equal((await findDelivery(hub, pending.id))?.status, 'substituida')

    // [DEL-16] What was installed can be renewed until its successor is in place.
    const renew = async (): Promise<WireReply> => {
      const { csrPem } = await createKeyAndCsr('rebuilt')
      const body = { csr_pem: csrPem, entrega_id: installed.id }
      return post(rebuilt.mtls, '/v1/certs/issue', body)
    }
    assertOk(await renew())
    const successor = entries.find(({ nome }) => nome === 'installed')
    assertOk(await post(rebuilt.mtls, '/v1/events', { ...report, entrega_id: successor?.id }))
    assertRefused(await renew(), 404, 'entrega_not_found')
    // [DEL-10]
    assert.equal((await findDelivery(hub, installed.id))?.status, 'substituida')
  })

  test('[TOK-9] [RES-9] comes back by no token that was there when it was revoked', async () => {
    await enrollHost(hub, 'revoked-for-good')
    const hostname = 'revoked-for-good'
    const create = { hostname, role: 'web', reenroll: true }
    const { token } = await hub.admin<{ token: string }>('POST', '/v1/admin/tokens', create)
    const revoked = await hub.admin('POST', '/v1/admin/agentes/revoke', { agente: hostname })
    assert.equal((revoked as { tokens_ended: number }).tokens_ended, 1)
    const csr = await createKeyAndCsr(hostname)
    assertRefused(await enroll({ token, hostname, csr }), 401, 'token_expired')
    const { agentes } = await hub.admin<{ agentes: { hostname: string; revoked_at: unknown }[] }>(
      'GET',
      '/v1/admin/agentes',
    )
    assert.ok(agentes.find((agent) => agent.hostname === hostname)?.revoked_at)
  })

  test('after it was revoked is an agent again, and its old certificates stay revoked', async () => {
    const host = await enrollHost(hub, 'forgiven')
    await hub.admin('POST', '/v1/admin/agentes/revoke', { agente: 'forgiven' })
    const again = await enrollHost(hub, 'forgiven', { reenroll: true })
    assertOk(await send(again.mtls, { path: '/v1/manifest' }))
    assertRefused(await send(host.mtls, { path: '/v1/manifest' }), 401, 'agent_revoked')
  })
})

describe('what an operator does to deliveries', () => {
  test('[CLI-9] [DEL-14] the next version is a fresh entrega, with the new names', async () => {
    const host = await enrollHost(hub, 'versions')
    const old = await createDelivery(hub, 'versions', 'site')
    const { entregas, versao } = await hub.admin<{ versao: number; entregas: { id: string }[] }>(
      'POST',
      '/v1/admin/cargas/update',
      { carga: old.cargaId, sans: ['www.example.org', '192.0.2.7', '*.apps.example.org'] },
    )
    assert.equal(versao, 2)
    const manifest = await send(host.mtls, { path: '/v1/manifest' })
    const [entry] = manifest.json['entregas'] as { id: string; versao: number }[]
    assert.deepEqual([entry?.id, entry?.versao], [entregas[0]?.id, 2])
    const { csrPem } = await createKeyAndCsr('versions')
    const issued = await post(host.mtls, '/v1/certs/issue', {
      csr_pem: csrPem,
      entrega_id: entry?.id,
    })
    assertOk(issued)
    const text = await runTool(
      'openssl',
      ['x509', '-noout', '-ext', 'subjectAltName'],
      issued.json['cert_pem'] as string,
    )
    for (const name of ['DNS:versions', 'DNS:www.example.org', 'IP Address:192.0.2.7']) {
      assert.ok(text.includes(name), text)
    }
  })

  test('[DEL-9] [ISS-9] [EVT-10] a cancelled delivery is not found any more', async () => {
    const host = await enrollHost(hub, 'cancelled')
    const { id } = await createDelivery(hub, 'cancelled', 'site')
    await hub.admin('POST', '/v1/admin/entregas/cancel', { entrega: id })
    assert.equal((await findDelivery(hub, id))?.status, 'cancelada')
    const { csrPem } = await createKeyAndCsr('cancelled')
    const issue = { csr_pem: csrPem, entrega_id: id }
    assertRefused(await post(host.mtls, '/v1/certs/issue', issue), 404, 'entrega_not_found')
    const event = { tipo_evento: 'entrega_instalada', payload: {}, entrega_id: id }
    assertRefused(await post(host.mtls, '/v1/events', event), 404, 'entrega_not_found')
    assert.deepEqual((await send(host.mtls, { path: '/v1/manifest' })).json, { entregas: [] })
  })

  test('[CLI-11] retry makes a new entrega of a failed one', async () => {
    const host = await enrollHost(hub, 'retried')
    const { id } = await createDelivery(hub, 'retried', 'site')
    const event = { tipo_evento: 'entrega_falhou', payload: { erro: 'no room' }, entrega_id: id }
    assertOk(await post(host.mtls, '/v1/events', event))
    const { entregas } = await hub.admin<{ entregas: { id: string; status: string }[] }>(
      'POST',
      '/v1/admin/entregas/retry',
      {},
    )
    assert.deepEqual(
      entregas.map(({ status }) => status),
      ['pendente'],
    )
    assert.notEqual(entregas[0]?.id, id)
    assert.equal((await findDelivery(hub, id))?.status, 'substituida')
  })

  test('[CLI-6] a removed agent is gone, its hostname free, its history there', async () => {
    const host = await enrollHost(hub, 'removed')
    await assert.rejects(
      hub.admin('POST', '/v1/admin/agentes/remove', { agente: 'removed' }),
      /not revoked/,
    )
    await hub.admin('POST', '/v1/admin/agentes/revoke', { agente: 'removed' })
    await hub.admin('POST', '/v1/admin/agentes/remove', { agente: 'removed' })
    assertRefused(await send(host.mtls, { path: '/v1/manifest' }), 401, 'agent_not_registered')
    const successor = await enrollHost(hub, 'removed')
    assert.notEqual(successor.agentId, host.agentId)
    const verified = await hub.svc('evento', 'list', '--verify', '--json')
    assert.equal(verified.status, 0, verified.stderr)
    assert.ok(verified.stdout.includes(host.agentId))
  })
})

test('[ISS-12] within its grace an identity is used, but makes no newer one than its successor', async () => {
  const host = await enrollHost(hub, 'cloned')
  assertOk(await send(host.mtls, { path: '/v1/manifest' }))
  const { keyPem, csrPem } = await createKeyAndCsr('cloned')
  const renewed = await post(host.mtls, '/v1/certs/issue', { csr_pem: csrPem })
  assertOk(renewed)
  const successor = withIdentity(hub, readIdentity(renewed, keyPem))
  assertOk(await send(successor, { path: '/v1/manifest' }))
  assertOk(await send(host.mtls, { path: '/v1/manifest' }))
  const again = await post(host.mtls, '/v1/certs/issue', { csr_pem: csrPem })
  assertRefused(again, 401, 'certificate_superseded')
  const { id } = await createDelivery(hub, 'cloned', 'site')
  assertOk(await post(host.mtls, '/v1/certs/issue', { csr_pem: csrPem, entrega_id: id }))
  assertOk(await post(successor, '/v1/certs/issue', { csr_pem: csrPem }))
})
