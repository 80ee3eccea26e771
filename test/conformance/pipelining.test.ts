// A connection has one request at a time: docs/protocol.md SRF-24.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect as connectTcp, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { enrollHost } from '../support/enrolled-host.ts'
import { HUB_NAME, WITH_ADMIN_PORT, WITH_ENROLL_TLS } from '../support/hub.ts'
import { waitUntil } from '../support/processes.ts'
import { useHub } from '../support/use-hub.ts'
import { connect, exchange } from '../support/wire-client.ts'

const GET = 'GET /health HTTP/1.1\r\nHost: hub.test\r\n\r\n'
const POST =
  'POST /v1/enroll HTTP/1.1\r\nHost: hub.test\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'
const BLANK_LINE = '\r\n\r\n'

let ports: Readonly<Record<string, () => Promise<Socket>>>
const { ca, hub } = useHub(
  async (started) => {
    const { mtls } = await enrollHost(started, 'piping.example')
    const trusted = await readFile(ca.rootPath, 'utf8')
    const metrics = await waitUntil('the metrics port', () =>
      started.logEntries().find(({ msg }) => msg === 'metrics listening'),
    )
    const tls = { ca: trusted, servername: HUB_NAME }
    ports = {
      health: () => connect({ port: started.ports.health }),
      enroll: () => connect({ port: started.ports.enroll }),
      mtls: () => connect(mtls),
      admin: () => connect({ port: started.ports.admin ?? 0, tls }),
      enroll_tls: () => connect({ port: started.ports.enrollTls ?? 0, tls }),
      'admin.sock': async () => {
        const socket = connectTcp(join(started.vaultRoot, 'admin.sock'))
        await once(socket, 'connect')
        return socket
      },
      metrics: () => connect({ port: Number(metrics['port']) }),
    }
  },
  { ...WITH_ADMIN_PORT, ...WITH_ENROLL_TLS, SVC_METRICS_BIND: '127.0.0.1:0' },
)

async function open(port: string): Promise<Socket> {
  const socket = await ports[port]?.()
  assert.ok(socket)
  return socket
}

/** One whole answer, the first that comes. */
async function readAnswer(socket: Socket, isHead = false): Promise<string> {
  let text = ''
  for (;;) {
    const [head = '', body] = text.split(BLANK_LINE)
    const length = /content-length: (\d+)/i.exec(head)?.[1] ?? '0'
    if (body !== undefined && (isHead || body.length >= Number(length))) return text
    const [bytes] = (await once(socket, 'data')) as [Buffer]
    text += bytes.toString('latin1')
  }
}

function statusOf(answer: string): string | undefined {
  return /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]
}

describe('[SRF-24] a connection', () => {
  for (const name of ['health', 'enroll', 'enroll_tls', 'mtls', 'admin', 'admin.sock', 'metrics']) {
    test(`that sends a request before it has its answer is cut: ${name}`, async () => {
      for (const requests of [GET.repeat(2), GET.repeat(2000), GET + POST]) {
        const socket = await open(name)
        assert.equal(await exchange(socket, requests), '')
        assert.ok(socket.destroyed)
      }
      // Where nobody waits for a turn, the end of a body is answered before what comes after it is looked at.
      for (const requests of [POST.repeat(2), POST + GET, POST.repeat(200)]) {
        const socket = await open(name)
        const answers = (await exchange(socket, requests)).match(/HTTP\/1\.1 \d+/g) ?? []
        assert.ok(answers.length <= 1, answers.join())
        assert.ok(socket.destroyed)
      }
    })

    test(`that waits for its answers has as many as it likes: ${name}`, async () => {
      const socket = await open(name)
      const head = GET.replace('GET', 'HEAD')
      // Nothing follows a body on the port of the metrics.
      for (const request of [GET, head, GET, ...(name === 'metrics' ? [] : [POST, GET, POST])]) {
        socket.write(request)
        const answer = await readAnswer(socket, request === head)
        assert.match(statusOf(answer) ?? '', /^[24]\d\d$/)
      }
      socket.destroy()
    })
  }

  test('may send a body that comes late, in pieces, or after 100 Continue', async () => {
    const socket = await open('enroll')
    const [head = '', body = ''] = POST.split(BLANK_LINE)
    for (const pieces of [
      [`${head}${BLANK_LINE}`, body],
      [`${head}${BLANK_LINE}{`, '}'],
    ]) {
      for (const piece of pieces) {
        await new Promise((resolve) => socket.write(piece, resolve))
      }
      assert.equal(statusOf(await readAnswer(socket)), '400')
    }
    socket.write(`${head}\r\nExpect: 100-continue${BLANK_LINE}`)
    assert.equal(statusOf(await readAnswer(socket)), '100')
    socket.write(body)
    assert.equal(statusOf(await readAnswer(socket)), '400')
    socket.destroy()
  })

  test('may go on when the answer came before the end of the body', async () => {
    const socket = await open('enroll')
    const long = POST.replace('Content-Length: 2', 'Content-Length: 100000').slice(0, -2)
    socket.write(long)
    assert.equal(statusOf(await readAnswer(socket)), '413')
    socket.write('x'.repeat(100_000))
    socket.write(GET)
    assert.equal(statusOf(await readAnswer(socket)), '404')
    socket.destroy()
  })

  test('is cut when it asks for more beside a stream', async () => {
    const socket = await open('mtls')
    const stream = GET.replace('/health', '/v1/stream')
    socket.write(stream)
    assert.equal(statusOf(await readAnswer(socket)), '200')
    socket.write(GET)
    socket.write(GET)
    await once(socket.resume(), 'close')
  })

  test('that is cut is told in the log, the first of an address', () => {
    const cuts = hub.logEntries().filter(({ msg }) => msg === 'Connection cut')
    assert.ok(cuts.length >= 5 && cuts.length <= 12, `${cuts.length} lines`)
    const [{ level, reason, remote } = {}] = cuts
    assert.deepEqual(
      { level, reason, remote },
      {
        level: 'info',
        reason: 'a request before the answer to the last one',
        remote: '127.0.0.1',
      },
    )
  })
})
