// Why nobody is signed in, on a first day and later, and what helps.

import assert from 'node:assert/strict'
import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { SignInRoute } from '../fakes/sign-in-hub.ts'
import { useLoginScene } from './login-scene.ts'

const used = useLoginScene()

describe('[OID-38] a sign-in that fails says what helps', () => {
  const failures: readonly (readonly [SignInRoute, number, object | string, RegExp])[] = [
    [
      'provider',
      401,
      { error: 'admin_token_invalid', message: 'no' },
      /lets nobody sign in by an OpenID provider\nsvc: hint: SVC_OIDC_ISSUER and SVC_OIDC_CLIENT_ID/,
    ],
    ['provider', 200, '<html>', /its answer does not come from a Cartorio hub/],
    ['provider', 200, { issuer: 7 }, /its answer is none to a sign-in/],
    [
      'start',
      503,
      { error: 'sign_in_provider_unavailable', message: 'the provider does not answer' },
      /the provider does not answer\nsvc: hint: the hub cannot reach the provider: svc doctor/,
    ],
    [
      'start',
      200,
      { url: 'javascript:alert(1)//?state=x', expires_at: '2026-11-21T10:00:00Z' },
      /names no https address/,
    ],
    [
      'start',
      200,
      { url: 'file:///etc/passwd?state=x', expires_at: '2026-11-21T10:00:00Z' },
      /names no https address/,
    ],
    [
      'start',
      200,
      { url: 'https://sso.example.org/?x', expires_at: '2026-11-21T10:00:00Z' },
      /names no https address/,
    ],
    [
      'start',
      200,
      {
        url: `https://sso.example.org/?state=${'x'.repeat(70_000)}`,
        expires_at: '2026-11-21T10:00:00Z',
      },
      /reply is too large/,
    ],
    [
      'start',
      429,
      { error: 'rate_limited', message: 'no' },
      /too many sign-ins.*\nsvc: hint: try again in/,
    ],
    [
      'finish',
      401,
      { error: 'sign_in_provider_refused', message: 'the provider says\u001b[2J no' },
      /the provider says\?\[2J no\nsvc: hint: the hub’s log says more; compare the clocks/,
    ],
    [
      'finish',
      401,
      { error: 'sign_in_state_invalid', message: 'the sign-in took too long' },
      /the sign-in took too long\nsvc: hint: a sign-in has ten minutes: svc login --hub/,
    ],
    [
      'finish',
      403,
      { error: 'sign_in_no_role', message: 'no role for you' },
      /no role for you\nsvc: hint: SVC_OIDC_ROLES of the hub says which groups have a role/,
    ],
    [
      'finish',
      409,
      { error: 'sign_in_name_taken', message: 'taken' },
      /taken\nsvc: hint: an admin sees in svc admin token list who has the name/,
    ],
    [
      'finish',
      403,
      { error: 'sign_in_name_invalid', message: 'a strange name' },
      /a strange name\nsvc: hint: SVC_OIDC_NAME_CLAIM of the hub says/,
    ],
    ['finish', 200, { token: 'svct_x' }, /its answer is none to a sign-in/],
  ]
  for (const [route, status, body, expected] of failures) {
    test(`${route} answers ${status} ${JSON.stringify(body).slice(0, 60)}`, async () => {
      used.scene.hub.answers.set(route, [status, body])
      const ended = await used.scene.paste()
      assert.equal(ended.status, 1)
      assert.match(ended.stderr, expected)
      assert.equal(ended.stdout, '')
      assert.deepEqual(await used.scene.keptFiles(), [])
    })
  }

  test('a connection that breaks', async () => {
    used.scene.hub.answers.set('finish', undefined)
    assert.match((await used.scene.paste()).stderr, /the connection to https:\S+ broke/)
  })

  test('a hub that is away', async () => {
    const away = ['--hub', 'https://127.0.0.1:1', '--hub-ca', used.scene.rootPath]
    assert.match(
      (await used.scene.svc(['login', ...away])).stderr,
      /cannot reach https:\/\/127\.0\.0\.1:1: /,
    )
  })

  test('a place that others can write to, before anybody signs in', async () => {
    await mkdir(join(used.scene.home, '.config', 'cartorio', 'logins'), {
      recursive: true,
      mode: 0o700,
    })
    await chmod(join(used.scene.home, '.config', 'cartorio'), 0o777)
    assert.match(
      (await used.scene.paste()).stderr,
      /svc keeps no login in .*: it is below a directory/,
    )
    assert.equal(used.scene.hub.asked.length, 0)
  })

  test('a clock that is wrong', async () => {
    used.scene.hub.clockAheadMs = -4 * 60_000
    assert.doesNotMatch((await used.scene.paste()).stderr, /the clock of this machine/)
    await used.scene.svc(['logout'])
    used.scene.hub.clockAheadMs = -6 * 60_000
    assert.match(
      (await used.scene.paste()).stderr,
      /svc: the clock of this machine is 6 min ahead of that of the hub: set it right/,
    )
    await used.scene.svc(['logout'])
    used.scene.hub.clockAheadMs = -13 * 3_600_000
    used.scene.hub.expiresAt = new Date(Date.now() - 3_600_000)
    const { status, stderr } = await used.scene.paste()
    assert.equal(status, 1)
    assert.match(
      stderr,
      /error: the login is over by the clock of this machine\nsvc: hint: the clock of this machine is 780 min ahead of that of the hub/,
    )
    assert.deepEqual(await used.scene.keptFiles(), [])
    assert.deepEqual([...used.scene.hub.good], [])
  })
})
