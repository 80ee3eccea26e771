// The audit log on its way to others, from end to end: hub and svc, the real rsyslog, and collectors that are functions.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { createFakeCa, type FakeCa } from '../fakes/hub-certificates.ts'
import { readEvents } from '../support/audit-log.ts'
import type { TestHub } from '../support/hub.ts'
import { waitUntil } from '../support/processes.ts'
import { createRsyslog, type Rsyslog } from '../support/rsyslog.ts'
import { withTools } from '../support/tools.ts'
import { useCa } from '../support/use-hub.ts'

interface Received {
  readonly type: string
  readonly data: { readonly seq: number; readonly hash_atual: string }
}

interface Shown {
  readonly id: string
  readonly url: string
  readonly state: string
  readonly backlog: number
  readonly erro: string | null
  readonly secret?: string | null
}

const { startHub, startHubProcess } = useCa()
let authority: FakeCa
before(async () => {
  authority = await createFakeCa()
})

async function create(hub: TestHub, ...args: string[]): Promise<Shown> {
  const { status, stdout, stderr } = await hub.svc('webhook', 'create', ...args, '--json')
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout) as Shown
}

async function show(hub: TestHub): Promise<Shown> {
  const { stdout } = await hub.svc('webhook', 'list', '--json')
  const [shown] = (JSON.parse(stdout) as { webhooks: Shown[] }).webhooks
  return shown ?? assert.fail('there is none')
}

let tokens = 0
async function makeEntries(hub: TestHub, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await hub.createToken({ hostname: `host-${(tokens += 1)}` })
}

const bySeq = ({ data }: Received): number => data.seq

async function received(rsyslog: Rsyslog): Promise<Received[]> {
  return (await rsyslog.lines()).map(
    (line) => JSON.parse((JSON.parse(line) as { msg: string }).msg) as Received,
  )
}

/** The hub is done, and of what the log has after that entry nothing is missing, out of order, or changed. */
async function assertWhole(
  hub: TestHub,
  read: () => Promise<readonly Received[]>,
  afterSeq: number,
): Promise<readonly Received[]> {
  await waitUntil('the hub to be done', async () => (await show(hub)).backlog === 0 || undefined)
  const wanted = (await readEvents(hub)).filter(({ seq }) => seq > afterSeq)
  const found = await waitUntil('all to be written', async () => {
    const all = await read()
    return new Set(all.map(bySeq)).size >= wanted.length ? all : undefined
  })
  const first = new Map<number, Received>()
  for (const each of found) if (!first.has(bySeq(each))) first.set(bySeq(each), each)
  assert.deepEqual(
    [...first.values()].map(({ type, data }) => [data.seq, type, data.hash_atual]),
    wanted.map(({ seq, tipo_evento, hash_atual }) => [seq, tipo_evento, hash_atual]),
  )
  return found
}

const lastSeq = async (hub: TestHub): Promise<number> => (await readEvents(hub)).at(-1)?.seq ?? 0

describe('[WHK-23] rsyslog as a receiver', withTools('rsyslogd'), () => {
  test('has every entry in order, although it and the hub are killed again and again', async () => {
    await using hub = await startHubProcess()
    const pair = await authority.issueServer('localhost')
    await using rsyslog = await createRsyslog(hub.directory, { driver: 'ossl', ...pair })
    await rsyslog.start()
    const roots = join(hub.directory, 'receivers.pem')
    await writeFile(roots, authority.rootPem)
    const restart = async (): Promise<unknown> => hub.start({ SVC_WEBHOOK_CA_PATH: roots })
    await hub.stop()
    await restart()
    const made = await create(hub, '--url', `syslog+tls://localhost:${rsyslog.port}`)
    assert.equal(made.secret, null)
    const start = await lastSeq(hub)
    const read = (): Promise<Received[]> => received(rsyslog)

    for (let round = 0; round < 3; round += 1) {
      const earlier = (await read()).length
      await makeEntries(hub, 20)
      await waitUntil('some to arrive', async () => (await read()).length > earlier || undefined)
      await hub.stop('SIGKILL')
      await restart()
    }
    await assertWhole(hub, read, start)

    await rsyslog.kill()
    await makeEntries(hub, 5)
    const failing = await waitUntil('the hub to notice', async () => {
      const shown = await show(hub)
      return shown.state === 'failing' ? shown : undefined
    })
    assert.equal(failing.backlog, 5)
    assert.match(failing.erro ?? '', /ECONNREFUSED/)
    await rsyslog.start()
    const all = await assertWhole(hub, read, start)
    // Only what the hub had no time to note comes twice.
    assert.ok(all.length < 200, `${all.length} lines`)

    const tested = await hub.svc('webhook', 'test', made.id)
    assert.match(tested.stdout, /^msg_[0-9a-f]{32} was accepted in \d+ ms\n$/)
    assert.match(await rsyslog.lines().then((lines) => lines.at(-1) ?? ''), /webhook_test/)
  })
})

describe('[WHK-24] [WHK-25] a collector', () => {
  test('has every entry in batches, and nobody else sees the headers that it knows the hub by', async () => {
    await using hub = await startHub()
    const got: Received[] = []
    let batches = 0
    let answered = 0
    const server = createServer((request, response) => {
      let body = ''
      request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
      request.on('end', () => {
        answered += 1
        if (request.headers['authorization'] !== 'Bearer s3cret-of-hub') {
          response.writeHead(401).end()
        } else if (answered % 3 === 1) {
          response.writeHead(503, { 'retry-after': '1' }).end()
        } else {
          batches += 1
          got.push(...readBodies(body))
          response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
        }
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    await using _ = {
      [Symbol.asyncDispose]: async () => {
        server.closeAllConnections()
        server.close()
      },
    }
    const { port } = server.address() as AddressInfo
    const headers = join(hub.directory, 'headers')
    await writeFile(headers, '\nAuthorization: Bearer s3cret-of-hub\n', { mode: 0o600 })
    const url = `otlp+http://localhost:${port}`
    const created = await create(hub, '--url', url, '--header-file', headers)
    assert.deepEqual([created.url, created.secret], [`${url}/v1/logs`, null])
    const start = await lastSeq(hub)
    await makeEntries(hub, 60)
    await assertWhole(hub, async () => got, start)
    assert.ok(batches < 40, `${batches} batches`)
    const events = await readEvents(hub)
    for (const place of [hub.logText(), JSON.stringify(events), JSON.stringify(await show(hub))]) {
      assert.ok(!place.includes('s3cret-of-hub'))
    }
    const record = events.find(({ tipo_evento }) => tipo_evento === 'webhook_created')
    assert.equal(record?.payload['origin'], url)
  })

  test('is refused with headers that are none, and only it has headers', async () => {
    await using hub = await startHub()
    const path = join(hub.directory, 'headers')
    for (const [url, text, message] of [
      ['https://a.example/', 'A: 1', /only a receiver of OTLP takes headers/],
      ['syslog+tls://a.example', 'A: 1', /only a receiver of OTLP takes headers/],
      ['otlp+https://a.example', 'Host: b', /the hub says host itself/],
      ['otlp+https://a.example', 'no header', /header 1 is not of the form "Name: value"/],
      ['otlp+https://a.example', 'A: 1\n'.repeat(17), /request_invalid|headers/],
      ['syslog+tls://169.254.169.254', '', /does not send to 169/],
    ] as const) {
      await writeFile(path, text)
      const { status, stderr } = await hub.svc(
        'webhook',
        'create',
        '--url',
        url,
        '--header-file',
        path,
      )
      assert.equal(status, 1, url)
      assert.match(stderr, message)
    }
    const { stderr } = await hub.svc(
      'webhook',
      'create',
      '--url',
      'otlp+https://a.example',
      '--header-file',
      '/nowhere',
    )
    assert.match(stderr, /--header-file/)
  })
})

function readBodies(request: string): Received[] {
  const { resourceLogs } = JSON.parse(request) as {
    resourceLogs: { scopeLogs: { logRecords: { body: { stringValue: string } }[] }[] }[]
  }
  return resourceLogs
    .flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords))
    .map(({ body }) => JSON.parse(body.stringValue) as Received)
}
