// Sign-in by an OpenID provider, a real one: docs/protocol.md OID. What a provider does wrong on purpose is in
// oidc-misbehaving-provider.test.ts, and what strangers try in oidc-strangers.test.ts.

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { actsOf, askAs, assertIn, assertRefusal, signIn } from '../support/console-page.ts'
import {
  answerIn,
  askOpenid,
  CONSOLE_REDIRECT,
  headersFor,
  newCaller,
  type OpenidHub,
  openOpenidHub,
  startOf,
  SVC_REDIRECT,
} from '../support/openid-scene.ts'
import { type RunningProvider, startOpenidProvider } from '../support/openid-provider.ts'
import type { Variables } from '../support/processes.ts'
import { waitUntil } from '../support/processes.ts'
import { send, type WireReply } from '../support/wire-client.ts'

let provider: RunningProvider
let directory: string
let variables: Variables

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'oidc-'))
  provider = await startOpenidProvider({ redirectUris: [CONSOLE_REDIRECT, SVC_REDIRECT] })
  variables = await variablesOf(provider)
  Object.assign(provider.accounts, {
    'id-alice': { email: 'Alice@example.org', email_verified: true, groups: ['staff', 'admins'] },
    'id-bob': { email: 'bob@example.org', groups: ['cn=web,ou=ops'] },
    'id-carol': { email: 'carol@example.org', groups: ['visitors'] },
  })
})
after(async () => {
  await provider[Symbol.asyncDispose]()
  await rm(directory, { recursive: true })
})

async function variablesOf(of: RunningProvider): Promise<Variables> {
  const caPath = join(directory, `${of.issuer.split(':').at(-1)}.pem`)
  await writeFile(caPath, of.rootPem)
  return {
    SVC_OIDC_ISSUER: of.issuer,
    SVC_OIDC_CLIENT_ID: of.clientId,
    SVC_OIDC_CLIENT_SECRET: of.clientSecret,
    SVC_OIDC_CA_PATH: caPath,
    SVC_OIDC_NAME: 'Example SSO',
    SVC_OIDC_ROLES: 'admin=admins; operator[role=web]=cn=web,ou=ops; viewer=staff',
  }
}

/** From the start to the answer of the finish. */
async function signInBy(
  hub: OpenidHub,
  wanted: 'console' | 'svc',
  subject: string,
  by: RunningProvider = provider,
): Promise<WireReply> {
  const caller = newCaller()
  const begun = await askOpenid(hub.target, 'start', startOf(wanted, caller), headersFor(wanted))
  assert.equal(begun.status, 200, begun.text)
  const back = await by.visit(String(begun.json['url']), subject)
  const finish = { ...answerIn(back), secret: caller.secret }
  return askOpenid(hub.target, 'finish', finish, headersFor(wanted))
}

describe('somebody signs in by an OpenID provider', () => {
  test('[OID-2] the hub says whose sign-in it takes', async () => {
    await using hub = await openOpenidHub({ variables })
    const shown = await send(hub.target, { path: '/v1/admin/oidc' })
    assert.deepEqual(
      [shown.status, shown.json],
      [200, { name: 'Example SSO', issuer: provider.issuer, console: true }],
    )
  })

  test('[OID-2] [OID-7] the issuer is written as the setting has it, however the provider does', async () => {
    const issuer = `${provider.issuer}/`
    await using hub = await openOpenidHub({ variables: { ...variables, SVC_OIDC_ISSUER: issuer } })
    const shown = await send(hub.target, { path: '/v1/admin/oidc' })
    assert.equal(shown.json['issuer'], issuer)
    const finished = await signInBy(hub, 'svc', 'id-alice')
    assert.equal(finished.status, 200, finished.text)
    const [[, made] = []] = await actsOf(hub.store, 'admin_token_created')
    assert.equal((made as { issuer: string }).issuer, issuer)
  })

  test('[OID-1] without a provider, and for other methods, these are paths like any other', async () => {
    await using hub = await openOpenidHub({ variables: {} })
    // The sign-in screen asks for it, of every hub: the log has nothing of that.
    assertRefusal(await send(hub.target, { path: '/v1/admin/oidc' }), 404, 'route_not_found')
    assert.deepEqual(await actsOf(hub.store, 'admin_refused'), [])
    const asked = await askOpenid(hub.target, 'start', startOf('console', newCaller()))
    assertRefusal(asked, 401, 'admin_token_invalid')
    await using other = await openOpenidHub({ variables })
    const wrong = await send(other.target, { method: 'DELETE', path: '/v1/admin/oidc' })
    assertRefusal(wrong, 401, 'admin_token_invalid')
  })

  test('[OID-3] [OID-4] [OID-6] a page gets a code that begins a session', async () => {
    await using hub = await openOpenidHub({ variables })
    const finished = await signInBy(hub, 'console', 'id-alice')
    assert.equal(finished.status, 200, finished.text)
    assert.deepEqual(Object.keys(finished.json), ['code'])
    const page = await signIn(hub.target, String(finished.json['code']))
    await assertIn(hub.target, page, 'alice@example.org')
    const [[, made] = []] = await actsOf(hub.store, 'admin_token_created')
    const { admin_token_id: id, ...said } = made as { admin_token_id: string }
    assert.match(id, /^[0-9a-f]{16}$/)
    assert.deepEqual(said, {
      actor: 'token:alice@example.org',
      name: 'alice@example.org',
      role: 'admin',
      expires_at: new Date(hub.clock.now().getTime() + 12 * 3_600_000).toISOString(),
      by: 'oidc',
      issuer: provider.issuer,
      subject: 'id-alice',
    })
    const [[, started] = []] = await actsOf(hub.store, 'session_started')
    assert.equal((started as { by: string }).by, 'oidc')
  })

  test('[OID-4] [OID-5] svc gets a token, of the first role that matches, bounded to its hosts', async () => {
    await using hub = await openOpenidHub({ variables: { ...variables, SVC_OIDC_TTL: '1h' } })
    const finished = await signInBy(hub, 'svc', 'id-bob')
    assert.equal(finished.status, 200, finished.text)
    const { token, ...said } = finished.json
    assert.match(String(token), /^svca_[\w-]{43}$/)
    assert.deepEqual(said, {
      name: 'bob@example.org',
      role: 'operator',
      only: 'role=web',
      expires_at: new Date(hub.clock.now().getTime() + 3_600_000).toISOString(),
    })
    const bearer = { authorization: `Bearer ${String(token)}` }
    assert.equal((await askAs(hub.target, bearer, '/v1/admin/agentes')).status, 200)
    hub.clock.pass(3_600_000)
    assertRefusal(await askAs(hub.target, bearer, '/v1/admin/agentes'), 401, 'admin_token_invalid')
  })

  test('[OID-14] where passkeys confirm acts, svc gets a token when the provider has asked again', async () => {
    await using hub = await openOpenidHub({ variables, isAskedAgainForSvc: true })
    assert.equal((await signInBy(hub, 'svc', 'id-bob')).status, 200)
    assert.equal((await signInBy(hub, 'console', 'id-bob')).status, 200)
    // The address is in the hands of whoever opens it.
    const caller = newCaller()
    const begun = await askOpenid(hub.target, 'start', startOf('svc', caller), {})
    const url = new URL(String(begun.json['url']))
    assert.deepEqual(
      ['prompt', 'max_age'].map((name) => url.searchParams.get(name)),
      ['login', '0'],
    )
    url.searchParams.delete('prompt')
    url.searchParams.delete('max_age')
    const back = await provider.visit(url.href, 'id-bob')
    const finish = { ...answerIn(back), secret: caller.secret }
    const refused = await askOpenid(hub.target, 'finish', finish, {})
    assertRefusal(refused, 401, 'sign_in_provider_refused')
    assert.match(refused.text, /did not ask the person again/)
  })

  test('[OID-8] [ERR-58] who has no role is refused by name, and recorded', async () => {
    await using hub = await openOpenidHub({ variables })
    const refused = await signInBy(hub, 'console', 'id-carol')
    assertRefusal(refused, 403, 'sign_in_no_role')
    assert.deepEqual(refused.json, {
      error: 'sign_in_no_role',
      message: 'the provider signed carol@example.org in, who has no role at this hub',
      details: { name: 'carol@example.org' },
    })
    const [, payload] = await waitUntil('the refusal to be recorded', async () =>
      (await actsOf(hub.store, 'admin_refused')).at(-1),
    )
    assert.deepEqual(payload, {
      actor: 'unknown',
      reason: 'sign_in_no_role',
      address: '127.0.0.1',
      issuer: provider.issuer,
      subject: 'id-carol',
      name: 'carol@example.org',
      count: 1,
    })
    assert.deepEqual(await hub.store.reader.listAccessTokens(), [])
  })

  test('[OID-9] a public client, and claims that only the userinfo has, do as well', async () => {
    await using other = await startOpenidProvider({
      redirectUris: [CONSOLE_REDIRECT, SVC_REDIRECT],
      areClaimsInIdToken: false,
      isPublicClient: true,
    })
    Object.assign(other.accounts, { dora: { email: 'dora@example.org', groups: ['staff'] } })
    const { SVC_OIDC_CLIENT_SECRET: _secret, ...settings } = await variablesOf(other)
    await using hub = await openOpenidHub({ variables: settings })
    const finished = await signInBy(hub, 'svc', 'dora', other)
    assert.deepEqual(
      [finished.status, finished.json['name'], finished.json['role']],
      [200, 'dora@example.org', 'viewer'],
      finished.text,
    )
  })

  test('[OID-6] [OID-7] one person has several tokens, another one not the same name meanwhile', async () => {
    await using hub = await openOpenidHub({ variables })
    provider.accounts['id-impostor'] = { email: 'alice@example.org', groups: ['staff'] }
    const tokens: string[] = []
    for (let at = 0; at < 3; at += 1) {
      const { json } = await signInBy(hub, 'svc', 'id-alice')
      tokens.push(String(json['token']))
      hub.clock.pass(1000)
    }
    for (const token of tokens) {
      const bearer = { authorization: `Bearer ${token}` }
      assert.equal((await askAs(hub.target, bearer, '/v1/admin/agentes')).status, 200)
    }
    assertRefusal(await signInBy(hub, 'console', 'id-impostor'), 409, 'sign_in_name_taken')
    await hub.admin.revokeAccessToken({ token: 'alice@example.org' })
    for (const token of tokens) {
      const bearer = { authorization: `Bearer ${token}` }
      assert.equal((await askAs(hub.target, bearer, '/v1/admin/agentes')).status, 401)
    }
    assert.equal((await signInBy(hub, 'console', 'id-impostor')).status, 200)
  })
})
