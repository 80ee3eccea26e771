// POST /v1/certs/issue and GET /v1/manifest: docs/protocol.md ISS and MAN.

import assert from 'node:assert/strict'
import { createHash, X509Certificate } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { readEvents } from '../support/audit-log.ts'
import {
  createAcceptableCsrs,
  createOpensslCsr,
  createUnacceptableCsrs,
} from '../support/csr-samples.ts'
import { createDelivery, findDelivery, type ListedDelivery } from '../support/deliveries.ts'
import {
  createKeyAndCsr,
  enrollHost,
  type EnrolledHost,
  readIdentity,
  withIdentity,
} from '../support/enrolled-host.ts'
import { runTool, waitUntil } from '../support/processes.ts'
import { useHub } from '../support/use-hub.ts'
import { assertOk, assertRefused, post, send, type WireReply } from '../support/wire-client.ts'

const { ca, hub } = useHub()

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000'

const issue = (host: EnrolledHost, body: object): Promise<WireReply> =>
  post(host.mtls, '/v1/certs/issue', body)

const manifestOf = async (host: EnrolledHost): Promise<unknown> => {
  const reply = await send(host.mtls, { path: '/v1/manifest' })
  assertOk(reply)
  return reply.json
}

const deliver = (
  host: EnrolledHost,
  nome: string,
  sans: readonly string[] = [],
): Promise<{ id: string; cargaId: string }> => createDelivery(hub, host.hostname, nome, sans)

const statusOf = async (id: string): Promise<string | undefined> =>
  (await findDelivery(hub, id))?.status

const namesOf = (certPem: unknown): string[] =>
  (new X509Certificate(certPem as string).subjectAltName ?? '').split(', ').sort()

describe('certs/issue', () => {
  test('[ISS-1] [ISS-2] [ISS-7] answers cert_pem and ca_pem, and the certificate is an identity', async () => {
    const host = await enrollHost(hub, 'rotates.example')
    const { keyPem, csrPem } = await createKeyAndCsr('rotates.example')
    const reply = await issue(host, { csr_pem: csrPem })
    assertOk(reply)
    assert.deepEqual(Object.keys(reply.json).sort(), ['ca_pem', 'cert_pem'])
    assert.equal(reply.json['ca_pem'], host.caPem)
    assert.notEqual(reply.json['cert_pem'], host.certPem)
    const renewed = withIdentity(hub, readIdentity(reply, keyPem))
    assertOk(await send(renewed, { path: '/v1/manifest' }))
  })

  test('[ISS-2] cert_pem is leaf and intermediate, and openssl verifies them against ca_pem', async () => {
    const host = await enrollHost(hub, 'verified.example')
    const { csrPem } = await createKeyAndCsr('verified.example')
    const { json } = await issue(host, { csr_pem: csrPem })
    const chainPath = join(hub.directory, 'issued.pem')
    const rootPath = join(hub.directory, 'issued-root.pem')
    await writeFile(chainPath, json['cert_pem'] as string)
    await writeFile(rootPath, json['ca_pem'] as string)
    const args = ['verify', '-CAfile', rootPath, '-untrusted', chainPath, chainPath]
    assert.match(await runTool('openssl', args), /: OK\n$/)
  })

  test('[ISS-3] 400 csr_invalid for all that is no acceptable CSR, before anything else', async () => {
    const host = await enrollHost(hub, 'issue-bad.example')
    for (const { name, pem } of await createUnacceptableCsrs('other.example')) {
      const reply = await issue(host, { csr_pem: pem, entrega_id: UNKNOWN_ID })
      assert.deepEqual([name, reply.text], [name, '{"error":"csr_invalid"}'])
    }
  })

  test('[ISS-3] takes P-256, P-384, Ed25519 and RSA keys of 2048 bits and more', async () => {
    const host = await enrollHost(hub, 'issue-keys.example')
    for (const { name, pem } of await createAcceptableCsrs('issue-keys.example')) {
      const reply = await issue(host, { csr_pem: pem })
      assert.equal(reply.status, 200, `${name}: ${reply.text}`)
    }
  })

  test('[ISS-4] [ISS-11] [ERR-11] 403 csr_cn_mismatch for any CN but the own hostname', async () => {
    const host = await enrollHost(hub, 'own.example')
    await enrollHost(hub, 'someone.example')
    for (const commonName of ['someone.example', 'OWN.example', 'own', '*.example', 'hub.test']) {
      const { csrPem } = await createKeyAndCsr(commonName)
      assertRefused(await issue(host, { csr_pem: csrPem }), 403, 'csr_cn_mismatch')
    }
    const twoNames = await createOpensslCsr('own.example/CN=someone.example')
    assertRefused(await issue(host, { csr_pem: twoNames }), 403, 'csr_cn_mismatch')
    const noName = await createOpensslCsr('')
    assertRefused(await issue(host, { csr_pem: noName }), 403, 'csr_cn_mismatch')
  })

  test('[ISS-4] 403 csr_cn_mismatch for names that the certificate would not get', async () => {
    const hostname = 'issue-sans.example'
    const host = await enrollHost(hub, hostname)
    const { id } = await deliver(host, 'site', ['www.example'])
    const csrFor = (san: string): Promise<string> => createOpensslCsr(hostname, undefined, san)
    const asked = await csrFor('DNS:www.example')
    assertRefused(await issue(host, { csr_pem: asked }), 403, 'csr_cn_mismatch')
    const more = await csrFor(`DNS:${hostname},DNS:www.example,DNS:more.example`)
    const refused = await issue(host, { csr_pem: more, entrega_id: id })
    assertRefused(refused, 403, 'csr_cn_mismatch')
    assert.equal(await statusOf(id), 'pendente')
    assertOk(await issue(host, { csr_pem: await csrFor(`DNS:${hostname}`) }))
    const exact = await csrFor(`DNS:www.example,DNS:${hostname}`)
    assertOk(await issue(host, { csr_pem: exact, entrega_id: id }))
  })

  test('[ISS-6] the CN is checked before entrega_id, entrega_id before the other names', async () => {
    const host = await enrollHost(hub, 'issue-order.example')
    const { csrPem } = await createKeyAndCsr('other.example')
    const wrongCn = { csr_pem: csrPem, entrega_id: UNKNOWN_ID }
    assertRefused(await issue(host, wrongCn), 403, 'csr_cn_mismatch')
    const csr = await createOpensslCsr('issue-order.example', undefined, 'DNS:other.example')
    const wrongNames = { csr_pem: csr, entrega_id: UNKNOWN_ID }
    assertRefused(await issue(host, wrongNames), 404, 'entrega_not_found')
  })

  test('[ISS-5] [ISS-6] [ERR-10] 502 ca_failed records nothing, and works when the CA is back', async () => {
    const host = await enrollHost(hub, 'issue-outage.example')
    const { id } = await deliver(host, 'site')
    const { csrPem } = await createKeyAndCsr('issue-outage.example')
    const recorded = await readEvents(hub)
    await ca.stop()
    try {
      const body = { csr_pem: csrPem, entrega_id: id }
      assertRefused(await issue(host, body), 502, 'ca_failed')
      assertRefused(await issue(host, { csr_pem: csrPem }), 502, 'ca_failed')
      // All other checks come first, so they need no CA.
      assertRefused(await issue(host, { csr_pem: 'no' }), 400, 'csr_invalid')
    } finally {
      await ca.start()
    }
    assert.equal(await statusOf(id), 'pendente')
    assert.deepEqual(await readEvents(hub), recorded)
    assertOk(await issue(host, { csr_pem: csrPem, entrega_id: id }))
  })

  test('[ISS-8] [DEL-5] [DEL-15] with entrega_id the names are those of host and carga, and it is em_andamento', async () => {
    const hostname = 'delivers.example'
    const host = await enrollHost(hub, hostname)
    const sans = ['www.example', '*.shop.example', '192.0.2.7', '2001:db8::1']
    const { id } = await deliver(host, 'site', sans)
    assert.equal(await statusOf(id), 'pendente')
    const { csrPem } = await createKeyAndCsr(hostname)
    const reply = await issue(host, { csr_pem: csrPem, entrega_id: id })
    assertOk(reply)
    assert.deepEqual(
      namesOf(reply.json['cert_pem']),
      [
        'DNS:*.shop.example',
        `DNS:${hostname}`,
        'DNS:www.example',
        'IP Address:192.0.2.7',
        'IP Address:2001:DB8:0:0:0:0:0:1',
      ].sort(),
    )
    assert.equal(await statusOf(id), 'em_andamento')
    assertOk(await issue(host, { csr_pem: csrPem, entrega_id: id }))
    assert.equal(await statusOf(id), 'em_andamento')
  })

  test('[ISS-9] [ERR-18] 404 entrega_not_found for an entrega that is unknown or another agent’s', async () => {
    const host = await enrollHost(hub, 'seeker.example')
    const other = await enrollHost(hub, 'owner.example')
    const { id } = await deliver(other, 'theirs')
    const { csrPem } = await createKeyAndCsr('seeker.example')
    for (const entrega of [UNKNOWN_ID, id]) {
      const reply = await issue(host, { csr_pem: csrPem, entrega_id: entrega })
      assertRefused(reply, 404, 'entrega_not_found')
    }
    assert.equal(await statusOf(id), 'pendente')
  })

  test('[ISS-10] [RES-7] each certificate is in the audit log by serial, SHA-256, purpose and agent', async () => {
    const host = await enrollHost(hub, 'recorded.example')
    const { id } = await deliver(host, 'site')
    const { csrPem } = await createKeyAndCsr('recorded.example')
    await issue(host, { csr_pem: csrPem })
    const { json } = await issue(host, { csr_pem: csrPem, entrega_id: id })
    const leaf = new X509Certificate(json['cert_pem'] as string)
    const issued = (await readEvents(hub, 'certificate_issued')).filter(
      ({ payload }) => payload['hostname'] === 'recorded.example',
    )
    assert.deepEqual(
      issued.map(({ payload, entrega_id }) => [payload['purpose'], entrega_id]),
      [
        ['identity', null],
        ['identity', null],
        ['delivery', id],
      ],
    )
    assert.deepEqual(
      [issued[2]?.payload['serial'], issued[2]?.payload['sha256']],
      [leaf.serialNumber.toLowerCase(), createHash('sha256').update(leaf.raw).digest('hex')],
    )
    assert.equal(issued[2]?.payload['agente_id'], host.agentId)
  })

  test('[ISS-1] [ERR-2] 400 request_invalid for a wrong shape', async () => {
    const host = await enrollHost(hub, 'issue-shape.example')
    const { csrPem } = await createKeyAndCsr('issue-shape.example')
    const upper = UNKNOWN_ID.replace('4000', 'ABCD')
    for (const body of [
      {},
      { csr_pem: null },
      { csr_pem: 1 },
      { csr_pem: [csrPem] },
      { csr_pem: '' },
      { csr_pem: 'x'.repeat(16 * 1024 + 1) },
      { csr_pem: csrPem, entrega_id: null },
      { csr_pem: csrPem, entrega_id: 1 },
      { csr_pem: csrPem, entrega_id: 'x' },
      { csr_pem: csrPem, entrega_id: upper },
      { csr_pem: csrPem, entrega_id: '' },
    ]) {
      assertRefused(await issue(host, body), 400, 'request_invalid')
    }
  })

  test('[ISS-7] concurrent requests of one agent each get a certificate of their own', async () => {
    const host = await enrollHost(hub, 'parallel.example')
    const replies = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const { csrPem } = await createKeyAndCsr('parallel.example')
        return issue(host, { csr_pem: csrPem })
      }),
    )
    for (const reply of replies) assertOk(reply)
    const serials = replies.map(({ json }) => new X509Certificate(json['cert_pem'] as string))
    assert.equal(new Set(serials.map(({ serialNumber }) => serialNumber)).size, 8)
  })
})

describe('the manifest', () => {
  test('[MAN-1] is an empty array for an agent with nothing to do', async () => {
    const host = await enrollHost(hub, 'idle.example')
    const reply = await send(host.mtls, { path: '/v1/manifest' })
    assertOk(reply)
    assert.equal(reply.text, '{"entregas":[]}')
  })

  test('[MAN-3] [DEL-4] [DEL-14] [SRF-17] an entry has id, carga_id, tipo, nome, versao and status', async () => {
    const host = await enrollHost(hub, 'entries.example')
    const { id, cargaId } = await deliver(host, 'Site_1.v2-x')
    assert.deepEqual(await manifestOf(host), {
      entregas: [
        {
          id,
          carga_id: cargaId,
          tipo: 'csr_cert',
          nome: 'Site_1.v2-x',
          versao: 1,
          status: 'pendente',
        },
      ],
    })
    const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
    assert.match(id, uuid)
    assert.match(cargaId, uuid)
  })

  test('[MAN-2] lists the agent’s own pendente and em_andamento only', async () => {
    const host = await enrollHost(hub, 'mine.example')
    const other = await enrollHost(hub, 'yours.example')
    await deliver(other, 'yours')
    const open = await deliver(host, 'open')
    const started = await deliver(host, 'started')
    const finished = await Promise.all(
      ['instalada', 'entregue', 'falhou'].map(async (word) => {
        const delivery = await deliver(host, word)
        const event = { tipo_evento: `entrega_${word}`, payload: {}, entrega_id: delivery.id }
        assertOk(await post(host.mtls, '/v1/events', event))
        assert.equal(await statusOf(delivery.id), word)
        return delivery
      }),
    )
    const { csrPem } = await createKeyAndCsr('mine.example')
    assertOk(await issue(host, { csr_pem: csrPem, entrega_id: started.id }))
    const { entregas } = (await manifestOf(host)) as { entregas: ListedDelivery[] }
    const listed = new Map(entregas.map(({ id, status }) => [id, status]))
    assert.deepEqual(
      listed,
      new Map([
        [open.id, 'pendente'],
        [started.id, 'em_andamento'],
      ]),
    )
    assert.equal(finished.length, 3)
  })

  test('[MAN-4] listing changes no status', async () => {
    const host = await enrollHost(hub, 'looks.example')
    const { id } = await deliver(host, 'site')
    const first = await manifestOf(host)
    assert.deepEqual(await manifestOf(host), first)
    assert.equal(await statusOf(id), 'pendente')
  })

  test('[MAN-5] a poll sets last_poll_at', async () => {
    const host = await enrollHost(hub, 'polls.example')
    const read = (): Promise<{ last_poll_at: string | null; last_seen_at: string | null }> =>
      hub.admin('POST', '/v1/admin/agentes/show', { agente: 'polls.example' })
    assert.equal((await read()).last_poll_at, null)
    const sinceMs = Date.now()
    await manifestOf(host)
    const at = await waitUntil('last_poll_at', async () => (await read()).last_poll_at ?? undefined)
    assert.ok(Date.parse(at) >= sinceMs && Date.parse(at) <= Date.now())
    assert.equal((await read()).last_seen_at, null)
  })
})

describe('the ETag of the manifest', () => {
  test('[MAN-6] is answered 304 when it comes back, and 200 again once something changed', async () => {
    const host = await enrollHost(hub, 'cached.example')
    const ask = (etag: string): Promise<WireReply> =>
      send(host.mtls, { path: '/v1/manifest', headers: { 'if-none-match': etag } })
    const first = await send(host.mtls, { path: '/v1/manifest' })
    const etag = first.headers.etag ?? ''
    assert.match(etag, /^"[^"]+"$/)
    const same = await ask(etag)
    assert.deepEqual([same.status, same.text], [304, ''])
    assert.ok(same.headers['x-request-id'])
    assertOk(await ask('"other"'))
    await deliver(host, 'site')
    const changed = await ask(etag)
    assertOk(changed)
    assert.notEqual(changed.headers.etag, etag)
  })
})

describe('what may be delivered', () => {
  test('[DEL-12] a nome that could leave its directory is refused', async () => {
    const host = await enrollHost(hub, 'names-host.example')
    const bad = ['../x', 'a/b', '.hidden', '-x', 'a..b', 'a b', 'é', 'x'.repeat(129), 'a\nb', '..']
    for (const nome of bad) await assert.rejects(deliver(host, nome), /nome_invalid/, nome)
    await assert.rejects(deliver(host, ''), /request_invalid/)
    await deliver(host, 'x'.repeat(128))
  })

  test('[DEL-13] two live entregas of one agent may not write one file, compared without case', async () => {
    const host = await enrollHost(hub, 'same-file.example')
    await deliver(host, 'site')
    await assert.rejects(deliver(host, 'site'), /nome_taken/)
    await assert.rejects(deliver(host, 'SITE'), /nome_taken/)
    await deliver(await enrollHost(hub, 'other-host.example'), 'site')
  })

  test('[DEL-15] a san is a DNS name or an address, and never covers a name of the hub', async () => {
    const host = await enrollHost(hub, 'sans-host.example')
    for (const san of ['a b', 'https://x', 'a_b', '*', '*.*.x', 'x*.y', '1.2.3.4/8', '']) {
      await assert.rejects(deliver(host, 'bad', [san]), /san_invalid|request_invalid/, san)
    }
    for (const san of ['hub.test', 'HUB.test', '*.test']) {
      await assert.rejects(deliver(host, 'bad', [san]), /san_/, san)
    }
  })

  test('[DEL-3] push is reserved: no carga of it can be made', async () => {
    const host = await enrollHost(hub, 'kinds.example')
    for (const tipo of ['push', 'CSR_CERT', 'other']) {
      const cargo = { tipo, nome: 'x', agentes: [host.hostname], roles: [], sans: [] }
      await assert.rejects(hub.admin('POST', '/v1/admin/cargas', cargo), /tipo_invalid/)
    }
  })
})
