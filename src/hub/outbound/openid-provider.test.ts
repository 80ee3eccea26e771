// What discovery may answer, and what is said of it: docs/protocol.md OID-9, OID-10, OID-13.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { Agent, buildConnector } from 'undici'
import { createFakeCa } from '../../../test/fakes/hub-certificates.ts'
import { startMisbehavingProvider } from '../../../test/fakes/misbehaving-provider.ts'
import { NOW } from '../../../test/store/store-samples.ts'
import { createSettableClock } from '../../../test/support/settable-clock.ts'
import { systemClock } from '../../platform/clock.ts'
import { createOpenidProvider } from './openid-provider.ts'

const CLOUD = 'login.microsoftonline.com'

async function lookAt(tenant: string, issuer: string) {
  await using stack = new AsyncDisposableStack()
  const ca = await createFakeCa()
  const { certificatePem: cert, keyPem: key } = await ca.issueServer(CLOUD)
  const server = createServer({ cert, key }, (_request, response) => {
    const document = {
      issuer,
      authorization_endpoint: `https://${CLOUD}/authorize`,
      token_endpoint: `https://${CLOUD}/token`,
      jwks_uri: `https://${CLOUD}/keys`,
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stack.defer(async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  })
  const port = String((server.address() as AddressInfo).port)
  const connect = buildConnector({ ca: ca.rootPem })
  const agent = new Agent({
    connect: (options, done) =>
      connect({ ...options, hostname: '127.0.0.1', port, servername: CLOUD }, done),
  })
  stack.defer(() => agent.close())
  const provider = createOpenidProvider({
    issuer: `https://${CLOUD}/${tenant}/v2.0`,
    clientId: 'cartorio',
    clientSecret: undefined,
    scopes: 'openid',
    claimsWanted: [],
    agentFor: async () => agent,
    version: '1.0.0',
    clock: systemClock,
  })
  return await provider.look()
}

test('[OID-9] one that is for all tenants is no provider: anybody has a tenant there', async () => {
  const issuer = `https://${CLOUD}/{tenantid}/v2.0`
  assert.deepEqual(await lookAt('common', issuer), {
    ok: false,
    why: 'unavailable',
    reason: `https://${CLOUD}/common/v2.0 is for all tenants: SVC_OIDC_ISSUER has to name one`,
  })
})

test('[OID-9] one tenant of that cloud is one', async () => {
  const issuer = `https://${CLOUD}/7f1c/v2.0`
  assert.deepEqual(await lookAt('7f1c', issuer), { ok: true })
})

test('[OID-10] what is said of a provider that is away is said once', async () => {
  const provider = createOpenidProvider({
    issuer: 'https://sso.example.org',
    clientId: 'cartorio',
    clientSecret: undefined,
    scopes: 'openid',
    claimsWanted: [],
    agentFor: async () =>
      new Agent({
        connect: (_options, done) => {
          done(new Error('getaddrinfo ENOTFOUND sso.example.org'), null)
        },
      }),
    version: '1.0.0',
    clock: systemClock,
  })
  assert.deepEqual(await provider.look(), {
    ok: false,
    why: 'unavailable',
    reason: 'sso.example.org: getaddrinfo ENOTFOUND sso.example.org',
  })
})

test('[OID-13] whether a provider is there is asked of the provider, not of what it said before', async () => {
  await using fake = await startMisbehavingProvider('cartorio')
  const agent = new Agent({ connect: { ca: fake.rootPem } })
  const clock = createSettableClock(NOW)
  const provider = createOpenidProvider({
    issuer: fake.issuer,
    clientId: 'cartorio',
    clientSecret: undefined,
    scopes: 'openid',
    claimsWanted: [],
    agentFor: async () => agent,
    version: '1.0.0',
    clock,
  })
  assert.deepEqual(await provider.look(), { ok: true })
  fake.answer = (_path, response) => {
    response.writeHead(500).end()
    return true
  }
  // Nobody makes the hub ask oftener than each ten seconds.
  assert.deepEqual(await provider.look(), { ok: true })
  assert.equal(fake.asked.length, 1)
  clock.pass(11_000)
  const { host } = new URL(fake.issuer)
  assert.deepEqual(await provider.look(), {
    ok: false,
    why: 'unavailable',
    reason: `${host} answered 500`,
  })
  const request = { redirectUri: 'https://hub.test/', state: 's', nonce: 'n', verifier: 'v' }
  const begun = await provider.authorizationUrl(request)
  assert.equal(begun.ok, true, 'what it said before does to begin a sign-in')
  fake.behave()
  clock.pass(11_000)
  assert.deepEqual(await provider.look(), { ok: true })
  await agent.close()
})

test('[OID-10] what discovery answered is kept for an hour, and beyond that until it answers again', async () => {
  await using fake = await startMisbehavingProvider('cartorio')
  const agent = new Agent({ connect: { ca: fake.rootPem } })
  const clock = createSettableClock(NOW)
  const provider = createOpenidProvider({
    issuer: fake.issuer,
    clientId: 'cartorio',
    clientSecret: undefined,
    scopes: 'openid',
    claimsWanted: [],
    agentFor: async () => agent,
    version: '1.0.0',
    clock,
  })
  const begin = async () => {
    const request = { redirectUri: 'https://hub.test/', state: 's', nonce: 'n', verifier: 'v' }
    return [(await provider.authorizationUrl(request)).ok, fake.asked.length]
  }
  assert.deepEqual(await begin(), [true, 1])
  clock.pass(3_600_000)
  assert.deepEqual(await begin(), [true, 1])
  clock.pass(1)
  assert.deepEqual(await begin(), [true, 2])
  fake.answer = (_path, response) => {
    response.writeHead(500).end()
    return true
  }
  clock.pass(3_600_001)
  assert.deepEqual(await begin(), [true, 3])
  await agent.close()
})
