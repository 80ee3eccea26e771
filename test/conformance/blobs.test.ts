// GET /v1/blobs/<carga_id>: docs/protocol.md BLB.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { createDelivery, findDelivery } from '../support/deliveries.ts'
import { createKeyAndCsr } from '../support/enrolled-host.ts'
import {
  bytesOf,
  createSealedCargo,
  enrollSealed,
  fetchBlob,
  manifestOf,
  openWith,
  type SealedHost,
  sealForHosts,
  updateSealedCargo,
} from '../support/sealed-files.ts'
import { useHub } from '../support/use-hub.ts'
import { waitUntil } from '../support/processes.ts'
import { assertOk, assertRefused, connect, post, send } from '../support/wire-client.ts'

const { hub } = useHub(undefined, {
  SVC_BLOB_MAX: String(8 * 1024 * 1024),
  SVC_LIMIT_RESPONSE_SECONDS: '2',
})

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000'
const SECRET = 'the secret of the delivery'

const enroll = (hostname: string): Promise<SealedHost> => enrollSealed(hub, hostname)

describe('GET /v1/blobs/<carga_id>', () => {
  test('[BLB-5] [BLB-7] [DEL-2] hands each agent of the carga the age file, which its own identity opens', async () => {
    const hosts = [await enroll('blob-1.example'), await enroll('blob-2.example')]
    const sealed = await sealForHosts(hosts, SECRET)
    const { carga_id: id } = await createSealedCargo(hub, 'database.env', sealed)
    for (const host of hosts) {
      const [entry] = await manifestOf(host)
      assert.deepEqual(
        [entry?.['carga_id'], entry?.['tipo'], entry?.['nome'], entry?.['versao']],
        [id, 'selado', 'database.env', 1],
      )
      const reply = await fetchBlob(host, id)
      assert.equal(reply.status, 200)
      assert.deepEqual(reply.bytes, bytesOf(sealed))
      const digest = createHash('sha256').update(reply.bytes)
      const sha256 = digest.copy().digest('hex')
      assert.equal(reply.headers['content-type'], 'application/octet-stream')
      assert.equal(reply.headers['content-length'], String(reply.bytes.length))
      assert.equal(reply.headers['transfer-encoding'], undefined)
      assert.equal(reply.headers.etag, `"${sha256}"`)
      assert.equal(reply.headers['repr-digest'], `sha-256=:${digest.digest('base64')}:`)
      assert.ok(reply.headers['x-request-id'])
      assert.equal(await openWith(host.keys, reply.bytes), SECRET)
    }
  })

  test('[BLB-5] [SRF-19] HEAD says the same without the content', async () => {
    const host = await enroll('head.example')
    const sealed = await sealForHosts([host], randomBytes(200_000))
    const { carga_id: id } = await createSealedCargo(hub, 'head', sealed)
    const whole = await fetchBlob(host, id)
    const head = await fetchBlob(host, id, {}, 'HEAD')
    assert.equal(head.status, 200)
    assert.equal(head.bytes.length, 0)
    for (const name of ['content-type', 'content-length', 'etag', 'repr-digest']) {
      assert.equal(head.headers[name], whole.headers[name], name)
    }
    const none = await fetchBlob(host, UNKNOWN_ID, {}, 'HEAD')
    assert.deepEqual([none.status, none.bytes.length], [404, 0])
  })

  test('[BLB-5] an ETag that still holds is answered 304, GET and HEAD alike', async () => {
    const host = await enroll('etag.example')
    const { carga_id: id } = await createSealedCargo(hub, 'etag', await sealForHosts([host], 'a'))
    const { etag = '' } = (await fetchBlob(host, id)).headers
    for (const value of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const reply = await fetchBlob(host, id, { 'if-none-match': value }, method)
        assert.deepEqual([reply.status, reply.bytes.length], [304, 0], value)
        assert.equal(reply.headers.etag, etag)
      }
    }
    for (const value of ['', '"', '"other"', etag.slice(1, -1)]) {
      const reply = await fetchBlob(host, id, { 'if-none-match': value })
      assert.equal(reply.status, 200, value)
    }
    await updateSealedCargo(hub, id, await sealForHosts([host], 'b'))
    const changed = await fetchBlob(host, id, { 'if-none-match': etag })
    assert.equal(changed.status, 200)
    assert.equal(await openWith(host.keys, changed.bytes), 'b')
  })

  test('[BLB-6] [ERR-27] is blob_not_found for whatever the agent has no live entrega of', async () => {
    const host = await enroll('finds.example')
    const other = await enroll('other.example')
    const theirs = await createSealedCargo(hub, 'theirs', await sealForHosts([other], 'x'))
    const removed = await createSealedCargo(hub, 'removed', await sealForHosts([host], 'x'))
    await hub.admin('POST', '/v1/admin/cargas/remove', { carga: removed.carga_id })
    const cancelled = await createSealedCargo(hub, 'cancelled', await sealForHosts([host], 'x'))
    await hub.admin('POST', '/v1/admin/entregas/cancel', { entrega: cancelled.entregas[0]?.id })
    const pair = await createDelivery(hub, host.hostname, 'pair')
    const ids = [
      theirs.carga_id,
      theirs.carga_id.toUpperCase(),
      removed.carga_id,
      cancelled.carga_id,
      cancelled.entregas[0]?.id ?? '',
      pair.cargaId,
      UNKNOWN_ID,
      '',
      'x',
      '%00',
      "'--",
      '..%2f..',
      `${UNKNOWN_ID}?x=y`,
      'a'.repeat(101),
      'a'.repeat(6000),
    ]
    for (const id of ids) {
      assertRefused(await fetchBlob(host, id), 404, 'blob_not_found')
      const known = await fetchBlob(host, id, { 'if-none-match': '*' })
      assertRefused(known, 404, 'blob_not_found')
    }
    assert.equal((await fetchBlob(other, theirs.carga_id)).status, 200)
  })

  test('[SRF-15] [ERR-17] [ERR-19] other methods are not allowed, and other paths are no route', async () => {
    const host = await enroll('paths.example')
    for (const method of ['PUT', 'POST', 'DELETE', 'PATCH', 'OPTIONS']) {
      for (const id of [UNKNOWN_ID, '', 'a'.repeat(6000)]) {
        const reply = await fetchBlob(host, id, {}, method)
        assertRefused(reply, 405, 'method_not_allowed')
        assert.equal(reply.headers.allow, 'GET, HEAD')
      }
    }
    for (const path of ['/v1/blobs', `/v1/blobs/${UNKNOWN_ID}/`, '/v1/blobs/a/b']) {
      for (const method of ['GET', 'DELETE']) {
        assertRefused(await send(host.mtls, { method, path }), 404, 'route_not_found')
      }
    }
    const elsewhere = await send({ port: hub.ports.enroll }, { path: `/v1/blobs/${UNKNOWN_ID}` })
    assertRefused(elsewhere, 404, 'route_not_found')
  })

  test('[BLB-6] [AUT-3] a revoked agent gets none; the entrega that its event finished still does', async () => {
    const host = await enroll('finishes.example')
    const { carga_id: id, entregas } = await createSealedCargo(
      hub,
      'finished',
      await sealForHosts([host], SECRET),
    )
    const event = {
      tipo_evento: 'entrega_entregue',
      entrega_id: entregas[0]?.id,
      payload: { path: '/x', carga_nome: 'finished', versao: 1 },
    }
    assertOk(await post(host.mtls, '/v1/events', event))
    assert.equal((await findDelivery(hub, entregas[0]?.id ?? ''))?.status, 'entregue')
    assert.equal((await fetchBlob(host, id)).status, 200)
    await hub.admin('POST', '/v1/admin/agentes/revoke', { agente: host.hostname })
    assertRefused(await fetchBlob(host, id), 401, 'agent_revoked')
  })

  test('[BLB-12] [ISS-9] no certificate is issued for its entrega', async () => {
    const host = await enroll('no-pair.example')
    const { entregas } = await createSealedCargo(hub, 'x', await sealForHosts([host], SECRET))
    const { csrPem } = await createKeyAndCsr(host.hostname)
    const body = { csr_pem: csrPem, entrega_id: entregas[0]?.id }
    assertRefused(await post(host.mtls, '/v1/certs/issue', body), 404, 'entrega_not_found')
  })
})

test('[LIM-28] a client that takes nothing of a blob is cut, and is told so by a reset', async () => {
  const host = await enroll('stuck.example')
  const sealed = await sealForHosts([host], randomBytes(7 * 1024 * 1024))
  const { carga_id: id } = await createSealedCargo(hub, 'stuck', sealed)
  const socket = await connect(host.mtls)
  const ended = new Promise((resolve) => {
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
    socket.once('end', () => resolve('an end'))
  })
  socket.pause()
  socket.write(`GET /v1/blobs/${id} HTTP/1.1\r\nHost: hub.test\r\n\r\n`)
  await waitUntil('the line that says so', () =>
    hub.logEntries().find(({ reason }) => reason === 'the client read nothing of an answer'),
  )
  socket.resume()
  assert.equal(await ended, 'ECONNRESET')
  assertOk(await send(host.mtls, { path: '/v1/manifest' }))
})
