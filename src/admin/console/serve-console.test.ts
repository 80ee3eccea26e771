// The console of svc over real sockets, in front of a hub that keeps what reaches it.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { createConsoleFiles } from '../../console-files/console-files.ts'
import { systemClock } from '../../platform/clock.ts'
import { operationsBy } from '../../protocol/admin/operations.ts'
import { SESSION_IDLE_SECONDS } from '../../protocol/admin/sessions.ts'
import { createSettableClock, type SettableClock } from '../../../test/support/settable-clock.ts'
import type { HubLine } from '../doors/hub-line.ts'
import { NO_PINS } from '../../sealing/recipients/recipient-pins.ts'
import { serveConsole } from './serve-console.ts'

interface Reached {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

type Call = (
  method: string,
  path: string,
  headers?: Readonly<Record<string, string>>,
  body?: string,
) => Promise<Reply>

const OWN = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }

interface Scene extends AsyncDisposable {
  readonly origin: string
  readonly links: string[]
  readonly reached: Reached[]
  readonly clock: SettableClock
  readonly call: Call
  /** What the hub answers from then on. */
  hubStatus: number
  /** Halves of a session, as headers. */
  signIn(): Promise<Readonly<Record<string, string>>>
}

async function serveScene(): Promise<Scene> {
  const reached: Reached[] = []
  const links: string[] = []
  const clock = createSettableClock(new Date('2026-11-26T03:00:00Z'))
  const hub = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.once('end', () => {
      const { method = '', url = '', headers } = request
      reached.push({ method, url, headers, body })
      if (url.startsWith('/v1/admin/changes')) {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write('event: hello\n\n')
        return
      }
      const own = { 'x-request-id': 'of-the-hub', etag: '"7"', 'set-cookie': 'hub=1' }
      response.writeHead(scene.hubStatus, { 'content-type': 'application/json', ...own })
      response.end('{"agentes":[]}')
    })
  })
  hub.listen(0, '127.0.0.1')
  await once(hub, 'listening')
  const { port: hubPort } = hub.address() as AddressInfo
  const line: HubLine = {
    hub: 'https://hub.example.org:8445',
    operations: operationsBy(() => Promise.reject(new Error('nothing is asked for'))),
    begin: ({ headers, ...asked }) =>
      httpRequest({
        ...asked,
        port: hubPort,
        headers: { ...headers, authorization: 'Bearer svca_own' },
      }),
    findHolder: () => Promise.resolve({ name: 'laptop', role: 'operator', only: null }),
    close: () => undefined,
  }
  const pins = { known: NO_PINS, path: '/x', add: () => Promise.resolve(), close: () => undefined }
  const served = await serveConsole({
    line,
    files: createConsoleFiles({ files: [] }),
    openPins: () => Promise.resolve(pins),
    pinsPath: '/x',
    clock: { now: () => clock.now(), sleep: (ms, signal) => systemClock.sleep(ms, signal) },
    port: 0,
    onLink: (link) => links.push(link),
  })
  links.push(served.link)
  const call: Call = (method, path, headers = {}, body = '') =>
    callAt(served.origin, method, path, headers, body)
  const scene: Scene = {
    origin: served.origin,
    links,
    reached,
    clock,
    call,
    hubStatus: 200,
    signIn: async () => {
      const begun = await call(
        'POST',
        '/v1/admin/sessions',
        { ...OWN, authorization: bearerOf(links.at(-1)) },
        '{}',
      )
      assert.equal(begun.status, 200, begun.body)
      const [cookie = ''] = begun.headers['set-cookie'] ?? []
      assert.match(
        cookie,
        /^__Host-cartorio-\d+=svcc_[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
      )
      const { secret } = JSON.parse(begun.body) as { secret: string }
      return { ...OWN, cookie: cookie.split(';')[0] ?? '', 'cartorio-session': secret }
    },
    [Symbol.asyncDispose]: async () => {
      await served.close()
      hub.close()
      hub.closeAllConnections()
    },
  }
  return scene
}

function bearerOf(link = ''): string {
  return `Bearer ${link.split('#code=')[1] ?? ''}`
}

function callAt(
  origin: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(origin)
    const length = method === 'GET' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const request = httpRequest({
      host: '127.0.0.1',
      port,
      method,
      path,
      agent: false,
      headers: { ...length, ...headers },
    })
    request.once('error', reject)
    request.once('response', (response) => {
      let text = ''
      response.on('data', (chunk) => (text += String(chunk)))
      response.once('error', reject)
      response.once('end', () => {
        const { statusCode: status = 0 } = response
        resolve({ status, headers: response.headers, body: text })
      })
    })
    request.end(method === 'GET' ? undefined : body)
  })
}

const codeOf = ({ body }: Reply): string => (JSON.parse(body) as { error: string }).error

describe('the console of svc', () => {
  test('[LOC-5] passes an operation on with the token of svc, and gives back what the hub says', async () => {
    await using scene = await serveScene()
    const halves = await scene.signIn()
    const reply = await scene.call('GET', '/v1/admin/agentes?limit=5', halves)
    assert.equal(reply.status, 200)
    assert.equal(reply.body, '{"agentes":[]}')
    assert.equal(reply.headers.etag, '"7"')
    assert.equal(reply.headers['set-cookie'], undefined, 'a cookie of the hub stays there')
    const [reached] = scene.reached
    assert.equal(reached?.url, '/v1/admin/agentes?limit=5')
    assert.equal(reached?.headers.authorization, 'Bearer svca_own')
    assert.equal(reached?.headers.cookie, undefined)
    assert.equal(reached?.headers['cartorio-session'], undefined)
    await scene.call(
      'POST',
      '/v1/admin/cargas/show',
      { ...halves, 'if-match': '"7"' },
      '{"carga":"x"}',
    )
    assert.equal(scene.reached[1]?.body, '{"carga":"x"}')
    assert.equal(scene.reached[1]?.headers['if-match'], '"7"')
  })

  test('[LOC-2] answers nobody who calls it by another name', async () => {
    await using scene = await serveScene()
    const halves = await scene.signIn()
    const { port } = new URL(scene.origin)
    for (const host of [
      'evil.example',
      `evil.example:${port}`,
      '127.0.0.1',
      `127.0.0.1:1`,
      `127.0.0.2:${port}`,
    ]) {
      const reply = await scene.call('GET', '/v1/admin/agentes', { ...halves, host })
      assert.equal(reply.status, 421, host)
      assert.equal((await scene.call('GET', '/console/', { host })).status, 421, host)
    }
    const own = await scene.call('GET', '/v1/admin/agentes', {
      ...halves,
      host: `localhost:${port}`,
    })
    assert.equal(own.status, 200)
    assert.equal(scene.reached.length, 1)
  })

  test('[LOC-3] answers no page but its own', async () => {
    await using scene = await serveScene()
    const halves = await scene.signIn()
    for (const other of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': '' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ]) {
      const reply = await scene.call('GET', '/v1/admin/agentes', { ...halves, ...other })
      assert.equal(reply.status, 403, JSON.stringify(other))
      assert.equal(codeOf(reply), 'cross_site')
    }
    const asked = await scene.call('OPTIONS', '/v1/admin/agentes', {
      origin: 'https://evil.example',
    })
    assert.equal(asked.headers['access-control-allow-origin'], undefined)
    assert.equal(scene.reached.length, 0)
  })

  test('[LOC-4] takes a code once, and nothing else in its place', async () => {
    await using scene = await serveScene()
    const start = (authorization: string): Promise<Reply> =>
      scene.call('POST', '/v1/admin/sessions', { ...OWN, authorization }, '{}')
    const code = bearerOf(scene.links[0])
    assert.equal(codeOf(await start(`${code}x`)), 'sign_in_code_unknown')
    assert.equal(codeOf(await start('Bearer svca_own')), 'sign_in_code_unknown')
    assert.equal((await start(code)).status, 200)
    const again = await start(code)
    assert.deepEqual([again.status, codeOf(again)], [401, 'sign_in_code_used'])
    assert.equal(scene.links.length, 1, 'there is no next link while somebody is in')
  })

  test('[LOC-4] wants both halves of a session, and nothing beside them', async () => {
    await using scene = await serveScene()
    const { cookie = '', 'cartorio-session': secret = '' } = await scene.signIn()
    const other = `svcs_${'a'.repeat(43)}`
    for (const headers of [
      { ...OWN },
      { ...OWN, cookie },
      { ...OWN, 'cartorio-session': secret },
      { ...OWN, cookie, 'cartorio-session': other },
      { ...OWN, cookie: `${cookie}; ${cookie}`, 'cartorio-session': secret },
      { ...OWN, cookie: cookie.replace(/-\d+=/, '='), 'cartorio-session': secret },
      { ...OWN, cookie, 'cartorio-session': secret, authorization: 'Bearer svca_x' },
    ]) {
      const reply = await scene.call('GET', '/v1/admin/agentes', headers)
      assert.deepEqual(
        [reply.status, codeOf(reply)],
        [401, 'session_unknown'],
        JSON.stringify(headers),
      )
    }
    assert.equal(scene.reached.length, 0)
  })

  test('[LOC-4] a session ends idle, by its own, and with the token; each end makes the next link', async () => {
    await using scene = await serveScene()
    const idle = await scene.signIn()
    scene.clock.pass((SESSION_IDLE_SECONDS - 1) * 1000)
    assert.equal((await scene.call('GET', '/v1/admin/agentes', idle)).status, 200)
    scene.clock.pass((SESSION_IDLE_SECONDS - 1) * 1000)
    const unattended = { ...idle, 'cartorio-unattended': '1' }
    assert.equal((await scene.call('GET', '/v1/admin/agentes', unattended)).status, 200)
    scene.clock.pass(2000)
    assert.equal(codeOf(await scene.call('GET', '/v1/admin/agentes', idle)), 'session_ended')
    assert.equal(scene.links.length, 2)

    const left = await scene.signIn()
    const shown = await scene.call('GET', '/v1/admin/sessions/own', left)
    assert.equal((JSON.parse(shown.body) as { role: string }).role, 'operator')
    assert.equal((await scene.call('POST', '/v1/admin/sessions/end', left, '{}')).status, 200)
    assert.equal(codeOf(await scene.call('GET', '/v1/admin/agentes', left)), 'session_ended')

    const revoked = await scene.signIn()
    scene.hubStatus = 401
    assert.equal((await scene.call('GET', '/v1/admin/agentes', revoked)).status, 401)
    assert.equal(codeOf(await scene.call('GET', '/v1/admin/agentes', revoked)), 'session_ended')
    assert.equal(scene.links.length, 4)
  })

  test('[LOC-5] passes nothing on that is no operation', async () => {
    await using scene = await serveScene()
    const halves = await scene.signIn()
    for (const [method, path] of [
      ['GET', '/v1/admin/unknown'],
      ['DELETE', '/v1/admin/agentes'],
      ['POST', '/v1/admin/backup'],
      ['POST', '/v1/enroll'],
      ['GET', '/v1/admin/agentes/../../enroll'],
      ['GET', '/v1/openapi.json'],
      ['POST', '/v1/push/a%2f..%2fb'],
      ['POST', '/v1/push/..'],
      ['GET', 'http://127.0.0.1:1/v1/admin/agentes'],
    ] as const) {
      const reply = await scene.call(method, path, halves, '{}')
      assert.equal(reply.status, 404, `${method} ${path}`)
    }
    assert.equal(scene.reached.length, 0)
  })

  test('[LOC-6] takes no body that is too large or says no length', async () => {
    await using scene = await serveScene()
    const halves = await scene.signIn()
    const large = { ...halves, 'content-length': String(17 * 1024 * 1024), expect: '100-continue' }
    assert.equal(await statusBeforeBody(scene.origin, large), 413)
    const endless = { ...halves, 'transfer-encoding': 'chunked' }
    assert.equal(await statusBeforeBody(scene.origin, endless), 411)
    assert.equal(scene.reached.length, 0)
  })

  test('[LOC-6] a stream of changes ends with its session', async () => {
    await using scene = await serveScene()
    const halves = await scene.signIn()
    const { port } = new URL(scene.origin)
    const request = httpRequest({
      host: '127.0.0.1',
      port,
      path: '/v1/admin/changes',
      headers: halves,
    })
    request.end()
    const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage]
    const [hello] = (await once(response, 'data')) as [Buffer]
    assert.match(hello.toString(), /event: hello/)
    const ended = new Promise<void>((resolve) => response.once('close', resolve))
    response.on('error', () => undefined)
    await scene.call('POST', '/v1/admin/sessions/end', halves, '{}')
    await ended
  })

  test('[LOC-7] [LOC-8] says where it leads, and takes no request that is none', async () => {
    await using scene = await serveScene()
    const halves = await scene.signIn()
    const line = await scene.call('GET', '/v1/console/local', halves)
    assert.deepEqual(JSON.parse(line.body), { hub: 'https://hub.example.org:8445', pins: '/x' })
    assert.equal((await scene.call('POST', '/v1/console/recipients', halves, '{}')).status, 400)
  })
})

/** The answer to a request whose body does not come. */
function statusBeforeBody(
  origin: string,
  headers: Readonly<Record<string, string>>,
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(origin)
    const path = '/v1/admin/cargas'
    const request = httpRequest({
      host: '127.0.0.1',
      port,
      method: 'POST',
      path,
      agent: false,
      headers,
    })
    request.once('error', reject)
    request.once('response', (response) => {
      resolve(response.statusCode)
      request.destroy()
    })
    request.flushHeaders()
  })
}
