import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { createFakeCa } from '../../../test/fakes/hub-certificates.ts'
import { SvcError, UserError } from '../../platform/errors.ts'
import { Secret } from '../../platform/secret.ts'
import type { AdminSession } from './admin-session.ts'
import type { TokenSource } from './hub-options.ts'
import { openRemoteHub } from './remote-hub.ts'

const ca = await createFakeCa()
const { certificatePem, keyPem } = await ca.issueServer('127.0.0.1')

async function withServer(
  listener: RequestListener,
  work: (session: AdminSession) => Promise<void>,
  from: TokenSource = { file: 'token.file' },
): Promise<void> {
  const server = createServer({ key: keyPem, cert: certificatePem }, listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  try {
    await work(
      openRemoteHub({
        url: new URL(`https://127.0.0.1:${port}`),
        token: new Secret('svca_token'),
        from,
        caPem: ca.rootPem,
      }),
    )
  } finally {
    server.close()
  }
}

const CREATE = { name: 'ci', role: 'viewer' } as const

test('[API-22] a create whose reply is lost is asked for once more, with the same key', async () => {
  const keys: unknown[] = []
  await withServer(
    (request, response) => {
      keys.push(request.headers['idempotency-key'])
      assert.equal(request.headers.authorization, 'Bearer svca_token')
      if (keys.length === 1) request.socket.destroy()
      else response.setHeader('x-request-id', 'r').end('{"name":"ci"}')
    },
    async ({ operations }) => {
      assert.equal((await operations.createAccessToken(CREATE)).name, 'ci')
    },
  )
  assert.match(String(keys[0]), /^[0-9a-f-]{36}$/)
  assert.deepEqual(keys, [keys[0], keys[0]])
})

test('[API-22] what is no create is asked for once, and says that it may have been done', async () => {
  let requests = 0
  await withServer(
    (request) => {
      requests += 1
      assert.equal(request.headers['idempotency-key'], undefined)
      request.socket.destroy()
    },
    ({ operations }) =>
      assert.rejects(operations.revokeAgent({ agente: 'web-1' }), {
        code: 'hub_connection_broke',
        hint: 'the hub may have done the operation; look before you repeat it',
      }),
  )
  assert.equal(requests, 1)
})

const REFUSAL = '{"error":"admin_token_invalid","message":"m"}'

for (const [name, from, expected] of [
  [
    'a file',
    { file: 'token.file' },
    {
      code: 'admin_token_invalid',
      message: 'the hub does not accept the token of token.file: it is unknown, expired or revoked',
      hint: 'svc admin token list shows the tokens; svc admin token create makes one',
    },
  ],
  [
    'a login',
    {
      login: {
        hub: 'https://hub.example.org:8445',
        caPem: undefined,
        name: 'alice@example.org',
        role: 'viewer',
        only: null,
        provider: { name: 'Example SSO', issuer: 'https://sso.example.org' },
        expiresAt: new Date(),
        token: new Secret('svca_token'),
      },
    },
    {
      code: 'login_ended',
      message: 'https://hub.example.org:8445 has ended the login of alice@example.org',
      hint: 'sign in again: svc login --hub https://hub.example.org:8445',
    },
  ],
] as const) {
  test(`[API-23] [OID-36] a token of ${name} that the hub does not take is explained`, () =>
    withServer(
      (_request, response) => void response.writeHead(401, { 'x-request-id': 'r' }).end(REFUSAL),
      ({ operations }) => assert.rejects(operations.listAgents({}), expected),
      from,
    ))
}

for (const [name, status, headers, body, code] of [
  ['a web page', 200, {}, '<html>', 'not_a_hub'],
  ['JSON of somebody else', 200, {}, '{"agentes":[]}', 'not_a_hub'],
  ['an agent’s port', 404, { 'x-request-id': 'r' }, '{"error":"route_not_found"}', 'not_a_hub'],
  ['a refusal', 409, { 'x-request-id': 'r' }, '{"error":"x","message":"m"}', 'x'],
  [
    'a limit',
    429,
    { 'x-request-id': 'r' },
    '{"error":"rate_limited","message":"m"}',
    'rate_limited',
  ],
  ['a failure', 503, { 'x-request-id': 'r' }, '{"error":"y","message":"m"}', 'y'],
] as const) {
  test(`[API-23] ${name} is the error ${code}`, () =>
    withServer(
      (_request, response) => void response.writeHead(status, headers).end(body),
      ({ operations }) =>
        assert.rejects(operations.listAgents({}), (error) => {
          assert.ok(error instanceof SvcError)
          assert.equal(error.code, code)
          assert.equal(error instanceof UserError, status < 429)
          return true
        }),
    ))
}
