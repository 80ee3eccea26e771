// GET /v1/stream and POST /v1/push of a hub as operators run it: docs/protocol.md PSH.

import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { readEvents } from '../support/audit-log.ts'
import {
  createKeyAndCsr,
  enrollHost,
  type EnrolledHost,
  readIdentity,
  withIdentity,
} from '../support/enrolled-host.ts'
import type { TestHub } from '../support/hub.ts'
import { waitUntil } from '../support/processes.ts'
import { openStream } from '../support/stream-client.ts'
import { useCa, useHub } from '../support/use-hub.ts'
import { assertOk, assertRefused, post, send } from '../support/wire-client.ts'

const { hub } = useHub()
const { startHub } = useCa()
let hosts = 0

function newHost(): Promise<EnrolledHost> {
  hosts += 1
  return enrollHost(hub, `stream-${hosts}.example`)
}

function createCargo(host: EnrolledHost, nome = 'site'): Promise<{ carga_id: string }> {
  const request = { tipo: 'csr_cert', nome, agentes: [host.hostname], roles: [], sans: [] }
  return hub.admin('POST', '/v1/admin/cargas', request)
}

async function push(of: TestHub, agente: string, body: unknown) {
  return new Promise<{ status: number; json: Record<string, unknown> }>((resolve, reject) => {
    const socketPath = join(of.vaultRoot, 'admin.sock')
    const headers = { 'content-type': 'application/json' }
    const options = {
      socketPath,
      method: 'POST',
      path: `/v1/push/${agente}`,
      agent: false,
      headers,
    }
    const request = httpRequest(options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (text += chunk))
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          json: JSON.parse(text) as Record<string, unknown>,
        }),
      )
    })
    request.on('error', reject)
    request.end(JSON.stringify(body))
  })
}

describe('the stream of an agent', () => {
  test('[PSH-1] [PSH-3] [PSH-4] opens with a comment and says that there is a manifest', async () => {
    const host = await newHost()
    const stream = await openStream(host.mtls)
    assert.deepEqual([stream.status, stream.headers['content-type']], [200, 'text/event-stream'])
    assert.ok(stream.headers['x-request-id'])
    const { event, id } = await stream.next()
    assert.equal(event, 'manifest')
    assert.match(id, /^[A-Za-z0-9_.-]+$/)
    assert.ok(stream.text().startsWith(':'))
    stream.close()
  })

  test('[PSH-1] HEAD holds none, and another method is refused', async () => {
    const host = await newHost()
    const head = await send(host.mtls, { method: 'HEAD', path: '/v1/stream' })
    assert.deepEqual([head.status, head.headers['content-type']], [200, 'text/event-stream'])
    const wrong = await post(host.mtls, '/v1/stream', {})
    assertRefused(wrong, 405, 'method_not_allowed')
    assert.equal(wrong.headers.allow, 'GET, HEAD')
    assert.equal((await push(hub, host.agentId, { acao: 'sync' })).json['online'], false)
  })

  test('[PSH-5] says nothing to who knows the state, and something at once to everybody else', async () => {
    const host = await newHost()
    const first = await openStream(host.mtls)
    const { id } = await first.next()
    first.close()
    const knowing = await openStream(host.mtls, { lastEventId: id })
    await createCargo(host)
    const { id: newer } = await knowing.next()
    assert.notEqual(newer, id)
    // What came first came because of the carga, not because of the connection.
    assert.equal(knowing.messages().length, 1)
    knowing.close()
    for (const lastEventId of [id, 'made up', '.', '']) {
      const other = await openStream(host.mtls, { lastEventId })
      assert.equal((await other.next()).id, newer)
      other.close()
    }
  })

  test('[PSH-6] tells of each change of its own cargas and entregas, and of nobody else’s', async () => {
    const [host, other] = [await newHost(), await newHost()]
    const stream = await openStream(host.mtls)
    const bystander = await openStream(other.mtls)
    await stream.next()
    await bystander.next()
    const { carga_id: carga } = await createCargo(host)
    const ids = [(await stream.next()).id]
    for (const act of ['update', 'remove']) {
      await hub.admin('POST', `/v1/admin/cargas/${act}`, { carga })
      ids.push((await stream.next()).id)
    }
    const again = await createCargo(host, 'again')
    ids.push((await stream.next()).id)
    const { entregas } = await hub.admin<{ entregas: { id: string; carga_id: string }[] }>(
      'GET',
      '/v1/admin/entregas',
    )
    const entrega = entregas.find(({ carga_id: id }) => id === again.carga_id)?.id
    await hub.admin('POST', '/v1/admin/entregas/retry', { entrega })
    ids.push((await stream.next()).id)
    await enrollHost(hub, host.hostname, { reenroll: true })
    ids.push((await stream.next()).id)
    // Nothing was there after the removal as at the start; all else differs.
    assert.equal(new Set(ids).size, ids.length)
    assert.equal(bystander.messages().length, 1)
    stream.close()
    bystander.close()
  })

  test('[PSH-3] has another comment when nothing else came for 25 seconds', async () => {
    const host = await newHost()
    const { id } = await (await openStream(host.mtls)).next()
    const stream = await openStream(host.mtls, { lastEventId: id })
    await waitUntil('the first comment', () => stream.text() === ':\n\n' || undefined)
    await waitUntil('the second', () => stream.text() === ':\n\n:\n\n' || undefined, 40_000)
    stream.close()
  })

  test('[PSH-2] ends when the agent opens another', async () => {
    const host = await newHost()
    const first = await openStream(host.mtls)
    const second = await openStream(host.mtls)
    await waitUntil('the end of the first', () => first.hasEnded() || undefined)
    await createCargo(host)
    await second.next()
    assert.equal(second.hasEnded(), false)
    second.close()
  })

  test('[PSH-7] [AUT-12] is cut when the agent is revoked', async () => {
    const host = await newHost()
    const stream = await openStream(host.mtls)
    await hub.admin('POST', '/v1/admin/agentes/revoke', { agente: host.hostname })
    await waitUntil('the end', () => stream.hasEnded() || undefined, 5000)
    assert.equal((await openStream(host.mtls)).status, 401)
  })
})

describe('POST /v1/push', () => {
  test('[PSH-10] [PSH-11] sync is told at once, by id or hostname, though nothing changed', async () => {
    const host = await newHost()
    const stream = await openStream(host.mtls)
    await stream.next()
    for (const agente of [host.agentId, host.hostname]) {
      const answer = await push(hub, agente, { acao: 'sync' })
      assert.deepEqual(answer, { status: 202, json: { online: true } })
      assert.equal((await stream.next()).event, 'manifest')
    }
    stream.close()
  })

  test('[PSH-10] refuses what it cannot do', async () => {
    const host = await newHost()
    const unknown = await push(hub, 'nobody.example', { acao: 'sync' })
    assert.deepEqual([unknown.status, unknown.json['error']], [404, 'agent_not_found'])
    for (const body of [{}, { acao: 'dance' }, { acao: 1 }, []]) {
      const refused = await push(hub, host.agentId, body)
      assert.deepEqual([refused.status, refused.json['error']], [400, 'request_invalid'])
    }
    await hub.admin('POST', '/v1/admin/agentes/revoke', { agente: host.hostname })
    for (const acao of ['sync', 'rotate']) {
      const revoked = await push(hub, host.agentId, { acao })
      assert.deepEqual([revoked.status, revoked.json['error']], [409, 'agent_revoked'])
    }
  })

  test('[PSH-13] leaves an entry in the audit log', async () => {
    const host = await newHost()
    await push(hub, host.agentId, { acao: 'sync' })
    await push(hub, host.agentId, { acao: 'rotate' })
    // What the CA is asked in the background goes on meanwhile.
    const acts = (await readEvents(hub)).filter(
      ({ payload }) => payload['actor'] === 'admin' && payload['agente_id'] === host.agentId,
    )
    const payload = { actor: 'admin', agente_id: host.agentId, hostname: host.hostname }
    assert.deepEqual(
      acts.map(({ tipo_evento, payload: found }) => [tipo_evento, found]),
      [
        ['agent_sync_requested', payload],
        ['agent_rotate_requested', payload],
      ],
    )
  })
})

describe('a file that is pushed', () => {
  const manifestOf = async (host: EnrolledHost) =>
    (await send(host.mtls, { path: '/v1/manifest' })).json['entregas'] as Record<string, unknown>[]

  test('[PSH-22] [PSH-23] is an entrega of tipo push, whose content is fetched as a blob', async () => {
    const host = await newHost()
    const stream = await openStream(host.mtls)
    await stream.next()
    const file = { nome: 'motd', conteudo: 'olá\n', modo: '0640' }
    const { status, json } = await push(hub, host.hostname, file)
    assert.equal(status, 202)
    assert.deepEqual(Object.keys(json).sort(), ['entrega_id', 'online'])
    assert.equal((await stream.next()).event, 'manifest')
    stream.close()
    const [entry] = await manifestOf(host)
    const { id, carga_id: carga, tipo, nome, versao, modo } = entry ?? {}
    assert.deepEqual(
      [id, tipo, nome, versao, modo],
      [json['entrega_id'], 'push', 'motd', 1, '0640'],
    )
    const blob = await send(host.mtls, { path: `/v1/blobs/${String(carga)}` })
    assert.deepEqual([blob.status, blob.text], [200, 'olá\n'])
    const stranger = await newHost()
    const refused = await send(stranger.mtls, { path: `/v1/blobs/${String(carga)}` })
    assertRefused(refused, 404, 'blob_not_found')
  })

  test('[PSH-22] [PSH-24] is the next versao when the name was pushed before, and 0644 unless it says otherwise', async () => {
    const host = await newHost()
    await push(hub, host.agentId, { nome: 'motd', conteudo: 'one' })
    const [first] = await manifestOf(host)
    const { json } = await push(hub, host.agentId, { nome: 'motd', conteudo: 'two' })
    const entries = await manifestOf(host)
    assert.deepEqual(
      entries.map(({ id, carga_id, versao, modo }) => [id, carga_id, versao, modo]),
      [[json['entrega_id'], first?.['carga_id'], 2, '0644']],
    )
    const { eventos } = await hub.admin<{
      eventos: { tipo_evento: string; payload: Record<string, unknown>; payload_text: string }[]
    }>('POST', '/v1/admin/eventos/list', { last: 2 })
    assert.deepEqual(
      eventos.map(({ tipo_evento, payload }) => [tipo_evento, payload['versao'], payload['bytes']]),
      [
        ['carga_created', 1, 3],
        ['carga_updated', 2, 3],
      ],
    )
    const same = await push(hub, host.agentId, { nome: 'MOTD', conteudo: 'three' })
    assert.deepEqual([same.status, same.json['error']], [409, 'nome_taken'])
  })

  for (const [what, error, body] of [
    ['more than 16 KiB', 'content_too_large', { nome: 'motd', conteudo: 'é'.repeat(8193) }],
    ['far more', 'request_invalid', { nome: 'motd', conteudo: 'x'.repeat(16_385) }],
    ['half a character', 'content_invalid', { nome: 'motd', conteudo: '\ud800' }],
    ['no name of a file', 'nome_invalid', { nome: '../motd', conteudo: '' }],
    ['setuid', 'modo_invalid', { nome: 'motd', conteudo: '', modo: '4755' }],
    ['a file that all can write', 'modo_invalid', { nome: 'motd', conteudo: '', modo: '0666' }],
    ['no content', 'request_invalid', { nome: 'motd' }],
    ['an acao besides', 'request_invalid', { nome: 'motd', conteudo: '', acao: 'sync' }],
  ] as const) {
    test(`[PSH-22] is refused with ${what}`, async () => {
      const host = await newHost()
      const answer = await push(hub, host.agentId, body)
      assert.deepEqual([answer.status, answer.json['error']], [400, error])
      assert.deepEqual(await manifestOf(host), [])
    })
  }
})

describe('a hub that stops', () => {
  test('[PSH-9] [BOOT-18] ends its streams at once, and what was asked of agents is not lost', async () => {
    await using own = await startHub()
    const host = await enrollHost(own, 'stopped.example')
    const { id } = await (await openStream(host.mtls)).next()
    const held = await openStream(host.mtls, { lastEventId: id })
    const startedMs = Date.now()
    assert.equal((await own.stop()).status, 0)
    assert.ok(Date.now() - startedMs < 9000, 'it did not wait for the stream')
    assert.equal(held.hasEnded(), true)
    // Without a hub, through the CLI.
    const { stdout } = await own.svc('agente', 'rotate', 'stopped.example')
    assert.equal(
      stdout,
      'agent stopped.example is to renew its identity as soon as it is back: it is offline\n',
    )
    await own.start()
    const back = await openStream(host.mtls, { lastEventId: id })
    assert.equal((await back.next()).event, 'rotate')
    assert.equal(back.messages().length, 1)
    await expectRotationUntilUse(own, host)
  })
})

/** docs/protocol.md PSH-12. */
async function expectRotationUntilUse(own: TestHub, host: EnrolledHost): Promise<void> {
  const { keyPem, csrPem } = await createKeyAndCsr(host.hostname)
  const issued = await post(host.mtls, '/v1/certs/issue', { csr_pem: csrPem })
  assertOk(issued)
  const old = await openStream(host.mtls)
  assert.deepEqual(
    [(await old.next()).event, (await old.next()).event],
    ['manifest', 'rotate'],
    'the new identity is not in use yet',
  )
  const renewed = withIdentity(own, readIdentity(issued, keyPem))
  const stream = await openStream(renewed)
  assert.equal((await stream.next()).event, 'manifest')
  await push(own, host.agentId, { acao: 'sync' })
  assert.equal((await stream.next()).event, 'manifest')
  assert.equal(stream.text().includes('rotate'), false)
  stream.close()
}
