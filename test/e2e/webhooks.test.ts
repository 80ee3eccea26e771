// Webhooks from end to end: a hub, svc, and the receiver of docs/webhooks.md, in processes of their own.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createFakeCa, type FakeCa } from '../fakes/hub-certificates.ts'
import { readEvents } from '../support/audit-log.ts'
import { createKeyAndCsr } from '../support/enrolled-host.ts'
import type { TestHub } from '../support/hub.ts'
import { waitUntil } from '../support/processes.ts'
import { useCa } from '../support/use-hub.ts'
import {
  createDocumentedReceiver,
  type DocumentedReceiver,
  type JournalLine,
} from '../support/webhook-receiver.ts'

interface Listed {
  readonly id: string
  readonly url: string
  readonly state: string
  readonly backlog: number
  readonly dead: number
  readonly attempts: number
  readonly erro: string | null
  readonly last_success_at: string | null
  readonly secret?: string
}

const { startHub, startHubProcess } = useCa()

async function svcJson<T>(hub: TestHub, ...args: string[]): Promise<T> {
  const { status, stdout, stderr } = await hub.svc(...args, '--json')
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout) as T
}

const create = (hub: TestHub, url: string, ...more: string[]): Promise<Listed> =>
  svcJson(hub, 'webhook', 'create', '--url', url, ...more)

async function list(hub: TestHub): Promise<Listed[]> {
  return (await svcJson<{ webhooks: Listed[] }>(hub, 'webhook', 'list')).webhooks
}

async function startReceiver(hub: TestHub, ...more: string[]) {
  const receiver = await createDocumentedReceiver(hub.directory)
  const webhook = await create(hub, receiver.url, ...more)
  await receiver.setSecret(webhook.secret ?? '')
  await receiver.start()
  return { receiver, webhook }
}

let made = 0
async function makeEntries(hub: TestHub, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    made += 1
    await hub.createToken({ hostname: `host-${made}` })
  }
}

/** Waits until the receiver has kept everything that the log holds after that entry, and has it once and in order. */
async function assertWhole(
  hub: TestHub,
  receiver: DocumentedReceiver,
  afterSeq: number,
): Promise<JournalLine[]> {
  const wanted = (await readEvents(hub)).filter(({ seq }) => seq > afterSeq)
  const journal = await waitUntil('the receiver to have everything', async () => {
    const lines = await receiver.journal()
    return lines.length >= wanted.length ? lines : undefined
  })
  assert.deepEqual(
    journal.map(({ type, timestamp, data }) => [data.seq, type, timestamp, data['payload']]),
    wanted.map(({ seq, tipo_evento, timestamp, payload }) => [
      seq,
      tipo_evento,
      timestamp,
      payload,
    ]),
  )
  assert.equal(new Set(journal.map(({ id }) => id)).size, journal.length)
  return journal
}

describe('a receiver as documented', () => {
  test('[WHK-1] [WHK-2] [WHK-4] [WHK-5] [WHK-6] gets every message once and in order, although it is down for a while', async () => {
    await using hub = await startHub()
    const { receiver, webhook } = await startReceiver(hub)
    await using _ = receiver
    const created = (await readEvents(hub)).at(-1)
    assert.equal(created?.tipo_evento, 'webhook_created')
    await makeEntries(hub, 5)
    await assertWhole(hub, receiver, created.seq)
    const nothingWaits = (): Promise<Listed> =>
      waitUntil('the hub to be done', async () => {
        const [shown] = await list(hub)
        return shown?.backlog === 0 ? shown : undefined
      })
    await nothingWaits()

    await receiver.kill()
    await makeEntries(hub, 30)
    const failing = await waitUntil('the hub to notice', async () => {
      const [shown] = await list(hub)
      return shown?.state === 'failing' ? shown : undefined
    })
    assert.equal(failing.backlog, 30)
    assert.match(failing.erro ?? '', /ECONNREFUSED/)
    await receiver.start()
    await makeEntries(hub, 5)
    await assertWhole(hub, receiver, created.seq)
    const active = await nothingWaits()
    assert.equal(active.state, 'active')
    assert.notEqual(active.last_success_at, null)

    // Whoever has another secret is not believed.
    await receiver.setSecret('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
    await receiver.kill()
    await receiver.start()
    const tested = await hub.svc('webhook', 'test', webhook.id)
    assert.equal(tested.status, 1)
    assert.match(tested.stderr, /the receiver did not accept the test: answered 401/)
  })

  test('[WHK-3] [WHK-5] gets every message once and in order, although the hub is killed again and again', async () => {
    await using hub = await startHubProcess()
    const { receiver } = await startReceiver(hub)
    await using _ = receiver
    const start = (await readEvents(hub)).at(-1)?.seq ?? 0
    for (let round = 0; round < 4; round += 1) {
      await makeEntries(hub, 25)
      // While it is at it: some are sent, and what was noted of them is behind.
      await waitUntil('some to arrive', async () =>
        (await receiver.journal()).length > round * 25 + 3 ? true : undefined,
      )
      await hub.stop('SIGKILL')
      await hub.start()
    }
    await assertWhole(hub, receiver, start)
    assert.equal((await hub.svc('unseal')).status, 0)
  })

  test('[WHK-11] [WHK-12] is tested, replayed and removed by svc', async () => {
    await using hub = await startHub()
    const { receiver, webhook } = await startReceiver(hub, '--tipo', 'token_created')
    await using _ = receiver
    const { id, secret = '' } = webhook
    assert.match(secret, /^whsec_/)
    const tested = await hub.svc('webhook', 'test', id)
    assert.match(tested.stdout, /^msg_[0-9a-f]{32} was accepted with 204 in \d+ ms\n$/)
    await makeEntries(hub, 3)
    const journal = await waitUntil('all of it', async () => {
      const lines = await receiver.journal()
      return lines.length === 4 ? lines : undefined
    })
    assert.deepEqual(
      journal.map(({ type }) => type),
      ['webhook_test', 'token_created', 'token_created', 'token_created'],
    )
    // The receiver knows the ids of what it has; one that it lost comes again.
    const replayed = await hub.svc('webhook', 'replay', id, '--since', '1h')
    assert.match(replayed.stdout, /continues after entry \d+: 3 to send/)
    await waitUntil('the replay', async () => (await list(hub))[0]?.backlog === 0 || undefined)
    assert.equal((await receiver.journal()).length, 4)

    const removed = await hub.svc('webhook', 'remove', id)
    assert.match(removed.stdout, /removed/)
    await makeEntries(hub, 1)
    assert.deepEqual(await list(hub), [])
    const events = (await readEvents(hub)).filter(({ tipo_evento }) =>
      tipo_evento.startsWith('webhook_'),
    )
    assert.deepEqual(
      events.map(({ tipo_evento, agente_id, payload }) => [
        tipo_evento,
        agente_id,
        payload['actor'],
      ]),
      ['webhook_created', 'webhook_tested', 'webhook_replayed', 'webhook_removed'].map((type) => [
        type,
        null,
        'admin',
      ]),
    )
    for (const place of [hub.logText(), JSON.stringify(events)]) {
      assert.ok(!place.includes(secret.slice('whsec_'.length)) && !place.includes('/cartorio'))
    }
    assert.equal((await receiver.journal()).length, 4)
    assert.match((await hub.svc('webhook', 'remove', id)).stderr, /no webhook/)
  })

  test('[WHK-12] gets nothing from svc itself', async () => {
    await using hub = await startHub()
    const { receiver, webhook } = await startReceiver(hub)
    await using _ = receiver
    await hub.stop()
    const tested = await hub.svc('webhook', 'test', webhook.id)
    assert.equal(tested.status, 1)
    assert.match(tested.stderr, /no hub runs, and only a hub sends webhooks/)
    assert.equal(
      (await hub.svc('token', 'create', '--hostname', 'later', '--role', 'web')).status,
      0,
    )
    assert.deepEqual(await receiver.journal(), [])
    await hub.start()
    await waitUntil('what svc recorded', async () =>
      (await receiver.journal()).length === 1 ? true : undefined,
    )
  })
})

describe('receivers that misbehave', () => {
  const servers = new AsyncDisposableStack()
  let ca: FakeCa
  before(async () => {
    ca = await createFakeCa()
  })
  after(() => servers.disposeAsync())

  async function listen(server: Server): Promise<number> {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    servers.defer(() => {
      server.close()
      if ('closeAllConnections' in server)
        (server as { closeAllConnections(): void }).closeAllConnections()
    })
    return (server.address() as AddressInfo).port
  }

  async function startTls(notAfter: Date): Promise<number> {
    const { keyPem, csrPem } = await createKeyAndCsr('localhost')
    const notBefore = new Date(notAfter.getTime() - 7_200_000)
    const cert = await ca.sign(csrPem, { commonName: 'localhost', notBefore, notAfter })
    const server = createTlsServer({ key: keyPem, cert }, (_request, response) => {
      response.writeHead(204).end()
    })
    server.on('tlsClientError', () => undefined)
    return listen(server)
  }

  test('[WHK-7] [WHK-9] [WHK-10] [WHK-13] [WHK-14] hold up nobody, and svc webhook list says what is wrong with each', async () => {
    await using hub = await startHub()
    const rootsPath = join(hub.directory, 'webhook-roots.pem')
    await writeFile(rootsPath, ca.rootPem)
    await hub.stop()
    await hub.start({ SVC_WEBHOOK_CA_PATH: rootsPath })
    const { receiver } = await startReceiver(hub)
    await using _ = receiver
    const hanging = new Set<object>()
    const hangs = await listen(
      createTcpServer((socket) => {
        hanging.add(socket)
        socket.on('error', () => undefined)
      }),
    )
    const redirects = await listen(
      createHttpServer((_request, response) => {
        response.writeHead(302, { location: receiver.url }).end()
      }),
    )
    const gone = await listen(
      createHttpServer((_request, response) => {
        response.writeHead(410).end()
      }),
    )
    const nowMs = Date.now()
    const fine = await startTls(new Date(nowMs + 3_600_000))
    const expired = await startTls(new Date(nowMs - 3_600_000))
    const expected: [url: string, state: string, erro: RegExp][] = [
      [`http://localhost:${hangs}/`, 'failing', /no answer within 10 s/],
      [
        `http://localhost:${redirects}/`,
        'failing',
        /answered 302, and the hub does not follow redirects/,
      ],
      [`http://localhost:${gone}/`, 'disabled', /410/],
      ['https://receiver.invalid/', 'failing', /ENOTFOUND|EAI_AGAIN/],
      [`https://localhost:${expired}/`, 'failing', /certificate has expired/],
      [`https://localhost:${fine}/`, 'active', /^$/],
    ]
    for (const [url] of expected) await create(hub, url, '--tipo', 'token_created')
    const created = (await readEvents(hub)).find(
      ({ tipo_evento }) => tipo_evento === 'webhook_created',
    )
    await makeEntries(hub, 10)
    await waitUntil('the good receiver to have all ten', async () => {
      const tokens = (await receiver.journal()).filter(({ type }) => type === 'token_created')
      return tokens.length === 10 ? true : undefined
    })
    await assertWhole(hub, receiver, created?.seq ?? 0)

    const shown = await waitUntil('what is wrong with each', async () => {
      const webhooks = await list(hub)
      const isSaid = expected.every(([url, state, erro]) => {
        const found = webhooks.find((webhook) => webhook.url === url)
        return found?.state === state && erro.test(found.erro ?? '')
      })
      return isSaid ? webhooks : undefined
    })
    const backlogs = expected.map(([url]) => shown.find((webhook) => webhook.url === url)?.backlog)
    assert.deepEqual(backlogs, [10, 10, 10, 10, 10, 0])
    assert.equal(hanging.size > 0, true)
    const table = await hub.svc('webhook', 'list')
    assert.match(
      table.stdout,
      /^URL +TYPES +STATE +BACKLOG +DEAD +ID +ERROR\n[^]* failing +10 .* \S/,
    )
    assert.equal((await hub.stop()).status, 0)
  })

  test('[WHK-13] are refused by their URL, and [WHK-10] so is one too many', async () => {
    await using hub = await startHub()
    for (const url of [
      'http://alerts.example.org/',
      'https://user:pass@alerts.example.org/',
      'https://169.254.169.254/latest/meta-data',
      'https://[fe80::1]/',
    ]) {
      const { status, stderr } = await hub.svc('webhook', 'create', '--url', url)
      assert.equal(status, 1)
      assert.match(stderr, /a webhook cannot use this URL/)
    }
    const bad = await hub.svc('webhook', 'create', '--url', 'https://a.example/', '--tipo', 'No!')
    assert.match(bad.stderr, /No! is not a type of event/)
    const dead = await hub.svc(
      'webhook',
      'create',
      '--url',
      'https://a.example/',
      '--tipo',
      'webhook_dead',
    )
    assert.match(dead.stderr, /sends to no webhook/)
    for (let count = 0; count < 100; count += 1) {
      await hub.admin('POST', '/v1/admin/webhooks', { url: 'http://127.0.0.1:1/', tipos: ['none'] })
    }
    const { stderr } = await hub.svc('webhook', 'create', '--url', 'https://a.example/')
    assert.match(stderr, /there are 100 webhooks already/)
  })

  test('[WHK-14] [ENV-25] a file of roots that is none stops the start', async () => {
    await using hub = await startHub()
    await hub.stop()
    const path = join(hub.directory, 'roots.pem')
    for (const [content, why] of [
      [undefined, 'not found'],
      ['nothing of the kind', 'no PEM certificate in it'],
    ] as const) {
      if (content !== undefined) await writeFile(path, content)
      await assert.rejects(hub.start({ SVC_WEBHOOK_CA_PATH: path }), (error: Error) => {
        assert.match(error.message, new RegExp(`read the webhooks’ CA from ${path}: ${why}`))
        return true
      })
    }
  })
})
