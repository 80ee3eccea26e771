// The admin port as any HTTPS client sees it: docs/protocol.md API.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { adminTargetOf } from '../support/admin-target.ts'
import { enrollHost } from '../support/enrolled-host.ts'
import { HUB_NAME, type TestHub, WITH_ADMIN_PORT } from '../support/hub.ts'
import { startTestHub } from '../support/test-hub.ts'
import { waitUntil } from '../support/processes.ts'
import { useHub } from '../support/use-hub.ts'
import { connectSecurely, send, type Target, type WireReply } from '../support/wire-client.ts'

type Role = 'viewer' | 'operator' | 'admin'

const JSON_TYPE = { 'content-type': 'application/json' }
const tokens: Record<Role, string> = { viewer: '', operator: '', admin: '' }

const { ca, hub } = useHub(async (started) => {
  for (const role of ['viewer', 'operator', 'admin'] as const) {
    tokens[role] = await createAdminToken(started, role, role)
  }
}, WITH_ADMIN_PORT)

async function createAdminToken(
  on: TestHub,
  name: string,
  role: Role,
  ttl = 3600,
): Promise<string> {
  const request = { name, role, ttl_seconds: ttl }
  return (await on.admin<{ token: string }>('POST', '/v1/admin/admin-tokens', request)).token
}

const target = (): Promise<Target> => adminTargetOf({ ca, hub })

interface Asked {
  readonly token?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

async function ask(path: string, asked: Asked = {}): Promise<WireReply> {
  const { token, body, method = body === undefined ? 'GET' : 'POST', headers = {} } = asked
  return send(await target(), {
    method,
    path,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : JSON_TYPE),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

/** An error of the admin port: a code, and words for people. */
function assertError(reply: WireReply, status: number, code: string): void {
  assert.deepEqual([reply.status, reply.json['error']], [status, code], reply.text)
  assert.equal(typeof reply.json['message'], 'string')
  const known = new Set(['error', 'message', 'details', 'fields'])
  assert.deepEqual(
    Object.keys(reply.json).filter((name) => !known.has(name)),
    [],
  )
  assert.match(reply.headers['content-type'] ?? '', /^application\/json(;|$)/)
  assert.equal(reply.headers['cache-control'], 'no-store')
  assert.ok(reply.headers['x-request-id'])
}

test('[API-1] [API-9] [API-19] [SRF-22] [ENV-22] the operations of the socket answer there, to a token', async () => {
  const onSocket = await hub.admin('GET', '/v1/admin/tokens')
  const reply = await ask('/v1/admin/tokens', { token: tokens.viewer })
  assert.equal(reply.status, 200)
  assert.deepEqual(reply.json, onSocket)
  assert.equal(reply.headers['cache-control'], 'no-store')
  assert.ok(reply.headers['x-request-id'])
})

test('[API-10] [ERR-30] without a good token everything is the same 401', async () => {
  const expired = await createAdminToken(hub, 'brief', 'admin', 1)
  const revoked = await createAdminToken(hub, 'ended', 'admin')
  await hub.admin('POST', '/v1/admin/admin-tokens/revoke', { token: 'ended' })
  await waitUntil('the token to expire', async () =>
    (await ask('/v1/admin/tokens', { token: expired })).status === 401 ? true : undefined,
  )
  const texts = new Set<string>()
  for (const headers of [
    {},
    { authorization: '' },
    { authorization: 'Bearer' },
    { authorization: `Basic ${tokens.admin}` },
    { authorization: tokens.admin },
    { authorization: `Bearer ${tokens.admin}x` },
    { authorization: `Bearer svca_${'A'.repeat(43)}` },
    { authorization: `Bearer ${expired}` },
    { authorization: `Bearer ${revoked}` },
  ]) {
    for (const path of ['/v1/admin/tokens', '/v1/nothing']) {
      const reply = await ask(path, { headers })
      assertError(reply, 401, 'admin_token_invalid')
      assert.equal(reply.headers['www-authenticate'], 'Bearer')
      texts.add(reply.text)
    }
  }
  assert.equal(texts.size, 1)
})

test('[API-6] a request whose body was held back does nothing once its token is revoked', async () => {
  const token = await createAdminToken(hub, 'stolen', 'admin')
  const { port, tls } = await target()
  const body = JSON.stringify({ name: 'heir', role: 'admin' })
  const held = connectTls({ host: '127.0.0.1', port, ...tls })
  const answered = once(held, 'data')
  held.write(
    `POST /v1/admin/admin-tokens HTTP/1.1\r\nHost: hub\r\nAuthorization: Bearer ${token}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, -1)}`,
  )
  // It was looked at when its use was noted.
  await waitUntil('the token to be used', async () => {
    const { admin_tokens: listed } = await hub.admin<{
      admin_tokens: { name: string; last_used_at: string | null }[]
    }>('GET', '/v1/admin/admin-tokens')
    return listed.find(({ name }) => name === 'stolen')?.last_used_at ?? undefined
  })
  await hub.admin('POST', '/v1/admin/admin-tokens/revoke', { token: 'stolen' })
  held.write(body.slice(-1))
  const [answer] = (await answered) as [Buffer]
  held.destroy()
  assert.match(answer.toString(), /^HTTP\/1\.1 401 /)
  const names = await hub.admin<{ admin_tokens: { name: string }[] }>(
    'GET',
    '/v1/admin/admin-tokens',
  )
  assert.ok(names.admin_tokens.every(({ name }) => name !== 'heir'))
})

test('[LIM-5] a client that reads nothing before it has sent all sees why a large body was refused', async () => {
  const socket = await connectSecurely(await target())
  const body = Buffer.alloc(15 * 1024 * 1024, 'x')
  const head =
    'POST /v1/admin/cargas HTTP/1.1\r\nHost: hub\r\nContent-Type: application/json\r\n' +
    `Authorization: Bearer svca_${'A'.repeat(43)}\r\nContent-Length: ${body.length}\r\n\r\n`
  socket.write(head)
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.once('close', () => reject(new Error(`cut after ${socket.bytesWritten} bytes`)))
    socket.write(body, () => resolve())
  })
  const [answer] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  assert.match(answer.toString(), /^HTTP\/1\.1 401 [^]*"admin_token_invalid"/)
})

test('[API-8] [API-11] [ERR-31] a role that is too small is refused before the body is read', async () => {
  for (const [role, path] of [
    ['viewer', '/v1/admin/tokens'],
    ['viewer', '/v1/admin/cargas'],
    ['viewer', '/v1/admin/agentes/revoke'],
    ['operator', '/v1/admin/agentes/remove'],
    ['operator', '/v1/admin/admin-tokens'],
    ['operator', '/v1/admin/admin-tokens/revoke'],
  ] as const) {
    assertError(await ask(path, { token: tokens[role], body: '{' }), 403, 'role_insufficient')
  }
  assertError(
    await ask('/v1/admin/admin-tokens', { token: tokens.operator }),
    403,
    'role_insufficient',
  )
  const made = await ask('/v1/admin/tokens', {
    token: tokens.operator,
    body: { hostname: 'by-operator.example', role: 'web' },
  })
  assert.equal(made.status, 200, made.text)
  const { eventos } = await hub.admin<{ eventos: { payload: Record<string, unknown> }[] }>(
    'POST',
    '/v1/admin/eventos/list',
    { tipo: 'token_created', last: 1 },
  )
  assert.equal(eventos[0]?.payload['actor'], 'token:operator')
})

test('[POL-17] [POL-18] [API-8] what a politica leaves to operators is refused to them alone, with a way out', async () => {
  const { hostname } = await enrollHost(hub, 'guarded.example', { role: 'guarded' })
  const again = { hostname, role: 'guarded', reenroll: true }
  const named = { tipo: 'csr_cert', agentes: [hostname], roles: [], sans: ['a.shop.example'] }
  const asked = (token: string, nome: string): Promise<readonly WireReply[]> =>
    Promise.all([
      ask('/v1/admin/tokens', { token, body: again }),
      ask('/v1/admin/cargas', { token, body: { ...named, nome } }),
    ])
  const [token, cargo] = await asked(tokens.operator, 'operators')
  assert.ok(token && cargo)
  assertError(token, 403, 'reenroll_forbidden')
  assert.deepEqual(token.json['details'], { politica: 'guarded' })
  assertError(cargo, 400, 'san_forbidden')
  assert.deepEqual(cargo.json['details'], { politica: 'guarded', san: 'a.shop.example' })
  for (const { status } of await asked(tokens.admin, 'admins')) assert.equal(status, 200)
  const policy = { role: 'guarded', reenroll: true, sans_permitidos: ['*.shop.example'] }
  const self = await ask('/v1/admin/politicas', { token: tokens.operator, body: policy })
  assertError(self, 403, 'role_insufficient')
  const set = await ask('/v1/admin/politicas', { token: tokens.admin, body: policy })
  assert.equal(set.status, 200, set.text)
  for (const { status, text } of await asked(tokens.operator, 'permitted')) {
    assert.equal(status, 200, text)
  }
})

test('[API-14] what else is wrong is said with a code, and by field', async () => {
  const { admin: token } = tokens
  for (const [method, path, body, status, code] of [
    ['GET', '/v1/admin/nothing', undefined, 404, 'route_not_found'],
    ['GET', '/health', undefined, 404, 'route_not_found'],
    ['GET', '/v1/%', undefined, 404, 'route_not_found'],
    ['PATCH', '/v1/admin/tokens', {}, 405, 'method_not_allowed'],
    ['POST', '/v1/admin/agentes/show', '{', 400, 'json_invalid'],
    ['POST', '/v1/admin/agentes/show', '', 400, 'json_invalid'],
    ['POST', '/v1/admin/agentes/show', { agente: 'nobody' }, 404, 'agent_not_found'],
    ['POST', '/v1/admin/agentes/revoke', { agente: 'nobody' }, 404, 'agent_not_found'],
    ['POST', '/v1/admin/cargas/remove', { carga: 'none' }, 404, 'cargo_not_found'],
    ['POST', '/v1/admin/entregas/cancel', { entrega: 'none' }, 404, 'delivery_not_found'],
    ['POST', '/v1/admin/tokens/revoke', { token: 'none' }, 404, 'token_not_found'],
    ['POST', '/v1/admin/admin-tokens/revoke', { token: 'none' }, 404, 'admin_token_not_found'],
    ['POST', '/v1/admin/politicas/show', { role: 'none' }, 404, 'politica_not_found'],
    ['POST', '/v1/admin/politicas/remove', { role: 'none' }, 404, 'politica_not_found'],
    ['POST', '/v1/admin/webhooks/show', { webhook: 'none' }, 404, 'webhook_not_found'],
    [
      'POST',
      '/v1/admin/admin-tokens',
      { name: 'viewer', role: 'viewer' },
      409,
      'admin_token_exists',
    ],
    ['POST', '/v1/admin/tokens', { hostname: HUB_NAME, role: 'web' }, 400, 'hostname_reserved'],
  ] as const) {
    assertError(
      await ask(path, { token, method, ...(body !== undefined && { body }) }),
      status,
      code,
    )
  }
  const wrong = await ask('/v1/admin/admin-tokens', { token, body: { name: '!', role: 'root' } })
  assertError(wrong, 400, 'request_invalid')
  assert.deepEqual(Object.keys(wrong.json['fields'] as object).sort(), ['name', 'role'])
  const missing = await ask('/v1/admin/agentes/show', { token, body: {} })
  assert.deepEqual(missing.json['fields'], { agente: 'is missing' })
  const text = await ask('/v1/admin/tokens', {
    token,
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
  })
  assertError(text, 415, 'unsupported_media_type')
  const big = await ask('/v1/admin/agentes/show', {
    token,
    method: 'POST',
    headers: { ...JSON_TYPE, 'content-length': String(64 * 1024 * 1024) },
  }).catch(() => undefined)
  if (big !== undefined) assertError(big, 413, 'body_too_large')
})

test('[API-15] lists come page by page', async () => {
  const token = tokens.viewer
  for (const index of [1, 2, 3, 4, 5]) await hub.createToken({ hostname: `page-${index}.example` })
  const whole = (await ask('/v1/admin/tokens', { token })).json['tokens'] as { id: string }[]
  const seen: { id: string }[] = []
  let path = '/v1/admin/tokens?limit=2'
  for (;;) {
    const { json } = await ask(path, { token })
    const rows = json['tokens'] as { id: string }[]
    assert.ok(rows.length <= 2)
    seen.push(...rows)
    if (json['next'] === null) break
    path = `/v1/admin/tokens?limit=2&after=${json['next'] as string}`
  }
  assert.deepEqual(seen, whole)
  for (const list of ['tokens', 'agentes', 'cargas', 'entregas']) {
    assertError(await ask(`/v1/admin/${list}?after=none`, { token }), 400, 'cursor_unknown')
    for (const query of ['limit=0', 'limit=10001', 'limit=x', 'limit=1&limit=2', 'after=']) {
      assertError(await ask(`/v1/admin/${list}?${query}`, { token }), 400, 'request_invalid')
    }
  }
  const first = await ask('/v1/admin/eventos/list', { token, body: { limit: 2 } })
  assert.equal(first.json['next'], 2)
})

test('[API-16] a create with an Idempotency-Key is done once', async () => {
  const create = async (key: string, hostname: string, token = tokens.operator) =>
    ask('/v1/admin/tokens', {
      token,
      headers: { 'idempotency-key': key },
      body: { hostname, role: 'web' },
    })
  const key = randomUUID()
  const replies = await Promise.all([1, 2, 3].map(() => create(key, 'once.example')))
  replies.push(await create(key, 'once.example'))
  for (const reply of replies) {
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(reply.json, replies[0]?.json)
  }
  assert.match(String(replies[0]?.json['token']), /^svct_/)
  assertError(await create(key, 'twice.example'), 409, 'idempotency_key_reused')
  // Another token's key is another key.
  assertError(await create(key, 'once.example', tokens.admin), 409, 'hostname_has_token')
  assertError(await create('short', 'once.example'), 400, 'idempotency_key_invalid')
})

test('[API-18] an update that was made of an old versao is refused', async () => {
  const token = tokens.operator
  const host = await enrollHost(hub, 'versions.example')
  const created = await ask('/v1/admin/cargas', {
    token,
    body: { tipo: 'csr_cert', nome: 'site', agentes: [host.hostname], roles: [], sans: [] },
  })
  assert.deepEqual([created.status, created.headers.etag], [200, '"1"'], created.text)
  const body = { carga: created.json['carga_id'] }
  const update = (tag: string): Promise<WireReply> =>
    ask('/v1/admin/cargas/update', { token, headers: { 'if-match': tag }, body })
  const second = await update('"1"')
  assert.deepEqual([second.status, second.headers.etag], [200, '"2"'])
  for (const tag of ['"1"', 'W/"2"', '"1", "2"', '2', '"x"', '']) {
    assertError(await update(tag), 412, 'versao_changed')
  }
  assert.equal((await update('*')).headers.etag, '"3"')
  const remove = (versao: number): Promise<WireReply> =>
    ask('/v1/admin/cargas/remove', { token, body: { ...body, versao } })
  assertError(await remove(2), 412, 'versao_changed')
  assert.equal((await remove(3)).status, 200)
})

test('[API-18] a politica that somebody else changed meanwhile is not overwritten', async () => {
  const token = tokens.admin
  const set = (cert_ttl: number, tag?: string): Promise<WireReply> =>
    ask('/v1/admin/politicas', {
      token,
      headers: tag === undefined ? {} : { 'if-match': tag },
      body: { role: 'tagged', cert_ttl },
    })
  assertError(await set(3600, `"${'A'.repeat(43)}"`), 412, 'politica_changed')
  const made = await set(3600)
  const tag = made.headers.etag ?? ''
  assert.match(tag, /^"[\w-]{43}"$/)
  const show = (): Promise<WireReply> =>
    ask('/v1/admin/politicas/show', { token, body: { role: 'tagged' } })
  assert.equal((await show()).headers.etag, tag)
  const changed = await set(7200, tag)
  assert.equal(changed.status, 200, changed.text)
  assert.notEqual(changed.headers.etag, tag)
  for (const other of [tag, `W/${changed.headers.etag}`, '"x"', '"1"', '']) {
    assertError(await set(900, other), 412, 'politica_changed')
  }
  assert.equal((await show()).json['cert_ttl'], 7200)
  const remove = (ifMatch: string): Promise<WireReply> =>
    ask('/v1/admin/politicas/remove', {
      token,
      headers: { 'if-match': ifMatch },
      body: { role: 'tagged' },
    })
  assertError(await remove(tag), 412, 'politica_changed')
  assert.equal((await remove(changed.headers.etag ?? '')).status, 200)
})

test('[API-12] [API-13] [LIM-23] refusals are recorded with a count, and one too many is told to wait', async () => {
  await using noisy = await startTestHub({
    caEnvironment: ca.environment,
    environment: { ...WITH_ADMIN_PORT, SVC_LIMIT_ADMIN_FAILURES: '3' },
  })
  const token = await createAdminToken(noisy, 'looker', 'viewer')
  const { tls } = await target()
  const at: Target = { port: noisy.ports.admin ?? 0, ...(tls && { tls }) }
  const look = (authorization: string): Promise<WireReply> =>
    send(at, { path: '/v1/admin/admin-tokens', headers: { authorization } })
  const statuses = []
  for (let count = 0; count < 5; count += 1) statuses.push((await look('Bearer forged')).status)
  assert.deepEqual(statuses, [401, 401, 401, 429, 429])
  const limited = await look(`Bearer ${token}`)
  assertError(limited, 429, 'rate_limited')
  assert.match(limited.headers['retry-after'] ?? '', /^\d+$/)
  const good = await send(at, {
    path: '/v1/admin/tokens',
    headers: { authorization: `Bearer ${token}` },
  })
  assert.equal(good.status, 200)
  // What is not yet recorded is when the hub stops.
  assert.equal((await noisy.stop()).status, 0)
  const { stdout } = await noisy.svc('evento', 'list', '--tipo', 'admin_refused', '--json')
  const { eventos } = JSON.parse(stdout) as { eventos: { payload: Record<string, unknown> }[] }
  assert.deepEqual(
    eventos.map(({ payload }) => payload),
    [
      { actor: 'unknown', reason: 'admin_token_invalid', address: '127.0.0.1', count: 1 },
      {
        actor: 'token:looker',
        reason: 'role_insufficient',
        address: '127.0.0.1',
        operation: 'listAccessTokens',
        count: 1,
      },
      { actor: 'unknown', reason: 'admin_token_invalid', address: '127.0.0.1', count: 4 },
    ],
  )
})

test('[API-9] there is no admin port when it is off', async () => {
  await using quiet = await startTestHub({
    caEnvironment: ca.environment,
    environment: { SVC_ADMIN_BIND: 'off' },
  })
  assert.doesNotMatch(quiet.logText(), /admin listening/)
  assert.equal((await quiet.svc('token', 'list')).status, 0)
})

test('[API-24] describes itself, as the repository has it', async () => {
  const { status, headers, json } = await ask('/v1/openapi.json', { token: tokens.viewer })
  assert.equal(status, 200)
  assert.equal(headers['cache-control'], 'no-store')
  const page = new URL('../../docs/openapi.json', import.meta.url)
  assert.deepEqual(json, JSON.parse(await readFile(page, 'utf8')))
  assertError(await ask('/v1/openapi.json'), 401, 'admin_token_invalid')
})
