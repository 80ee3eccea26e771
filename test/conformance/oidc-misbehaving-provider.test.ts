// What the hub makes of an OpenID provider that is wrong, slow, endless, or away: docs/protocol.md OID-5 to OID-10.

import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, afterEach, before, describe, test } from 'node:test'
import { actsOf, assertRefusal, UNLIMITED } from '../support/console-page.ts'
import { type MisbehavingScene, openMisbehavingScene } from '../support/misbehaving-scene.ts'
import {
  askOpenid,
  newCaller,
  type OpenidHub,
  openOpenidHub,
  startOf,
} from '../support/openid-scene.ts'
import { send, type WireReply } from '../support/wire-client.ts'

let scene: MisbehavingScene
let provider: MisbehavingScene['provider']
let variables: MisbehavingScene['variables']
let hub: OpenidHub

before(async () => {
  scene = await openMisbehavingScene()
  ;({ provider, variables } = scene)
  hub = await openOpenidHub({ variables })
})
afterEach(() => provider.behave())
after(async () => {
  await hub[Symbol.asyncDispose]()
  await scene[Symbol.asyncDispose]()
})

async function finish(by: OpenidHub = hub, iss?: string): Promise<WireReply> {
  const caller = newCaller()
  const begun = await askOpenid(by.target, 'start', startOf('svc', caller), {})
  if (begun.status !== 200) return begun
  const url = String(begun.json['url'])
  provider.begin(url)
  const state = new URL(url).searchParams.get('state')
  return askOpenid(by.target, 'finish', { code: 'a code', state, secret: caller.secret, iss }, {})
}

test('one that behaves signs in', async () => {
  const { status, json, text } = await finish()
  assert.deepEqual([status, json['name'], json['role']], [200, 'alice@example.org', 'viewer'], text)
})

describe('[OID-9] [ERR-57] an ID token is refused', () => {
  const PAST = Math.floor(Date.now() / 1000) - 600
  const claims: [how: string, claims: object, why: RegExp][] = [
    ['of another issuer', { iss: 'https://evil.example' }, /unexpected JWT claim/],
    ['with another nonce', { nonce: 'another' }, /unexpected JWT claim/],
    [
      'without a nonce',
      { nonce: undefined },
      /JWT "nonce" \(nonce\) claim missing|unexpected|invalid/,
    ],
    ['for another client', { aud: 'another' }, /unexpected JWT claim/],
    ['of several, for another one', { aud: ['cartorio', 'b'], azp: 'b' }, /unexpected JWT claim/],
    ['that has expired', { exp: PAST, iat: PAST - 300 }, /timestamp/],
    ['without a subject', { sub: undefined }, /invalid response/],
    ['of an empty subject', { sub: '' }, /invalid response|sub/],
    ['of a subject that nobody can read', { sub: 'a\u202eb' }, /its sub is not/],
    [
      'of 5,000 groups',
      { groups: Array.from({ length: 5000 }, (_, at) => `g${at}`) },
      /more than 1000/,
    ],
  ]
  for (const [how, spoilt, why] of claims) {
    test(how, async () => {
      provider.claims = { ...spoilt }
      const reply = await finish()
      assertRefusal(reply, 401, 'sign_in_provider_refused')
      assert.match(String(reply.json['message']), why)
    })
  }

  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const tokens: [how: string, spoil: (token: string) => string][] = [
    ['that is not signed', (token) => `${encode({ alg: 'none' })}.${token.split('.')[1]}.`],
    [
      'that says it is signed by a secret',
      (token) => `${encode({ alg: 'HS256' })}.${token.split('.')[1]}.${token.split('.')[2]}`,
    ],
    ['whose signature is another one’s', (token) => `${token.slice(0, -8)}AAAAAAAA`],
    ['that is no token', () => 'no token'],
  ]
  for (const [how, spoil] of tokens) {
    test(how, async () => {
      provider.spoilToken = spoil
      assertRefusal(await finish(), 401, 'sign_in_provider_refused')
    })
  }

  test('also where the provider says that it signs none', async () => {
    provider.metadata = { id_token_signing_alg_values_supported: ['none', 'HS256', 'RS256'] }
    await using other = await openOpenidHub({ variables })
    for (const alg of ['none', 'HS256']) {
      provider.spoilToken = (token) => `${encode({ alg })}.${token.split('.')[1]}.`
      assertRefusal(await finish(other), 401, 'sign_in_provider_refused')
    }
  })

  test('by a key that is not published; a published one counts at once', async () => {
    await provider.replaceKey(false)
    assertRefusal(await finish(), 401, 'sign_in_provider_refused')
    await provider.replaceKey(true)
    assert.equal((await finish()).status, 200)
  })

  test('[OID-9] an answer that another provider gave the browser', async () => {
    assertRefusal(await finish(hub, 'https://evil.example'), 401, 'sign_in_provider_refused')
  })
})

test('[OID-9] [ENV-95] the secret goes in a header, and in the body to a provider that takes it there alone', async () => {
  for (const [methods, isInHeader] of [
    [undefined, true],
    [['client_secret_post', 'client_secret_basic'], true],
    [['client_secret_post'], false],
  ] as const) {
    provider.metadata = { token_endpoint_auth_methods_supported: methods }
    const seen: unknown[] = []
    provider.answer = (path, response) => {
      if (path === '/token') seen.push(response.req.headers.authorization)
      return false
    }
    const SVC_OIDC_CLIENT_SECRET = 'a secret'
    await using other = await openOpenidHub({ variables: { ...variables, SVC_OIDC_CLIENT_SECRET } })
    assert.equal((await finish(other)).status, 200)
    const basic = `Basic ${Buffer.from('cartorio:a+secret').toString('base64')}`
    assert.deepEqual(seen, [isInHeader ? basic : undefined])
  }
})

test('[OID-9] what the ID token lacks the userinfo of the same subject says, which overrules nothing', async () => {
  provider.metadata = { userinfo_endpoint: `${provider.issuer}/userinfo` }
  provider.claims = { groups: undefined }
  let said: object = {}
  provider.answer = (path, response) => {
    if (path !== '/userinfo') return false
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(said))
    return true
  }
  await using other = await openOpenidHub({ variables })
  said = { sub: 'id-eve', groups: ['staff'] }
  assertRefusal(await finish(other), 401, 'sign_in_provider_refused')
  said = { sub: 'id-alice', email: 'eve@example.org', groups: ['staff'] }
  const { status, json, text } = await finish(other)
  assert.deepEqual([status, json['name'], json['role']], [200, 'alice@example.org', 'viewer'], text)
})

describe('[OID-5] [OID-6] [ERR-59] what a person is called', () => {
  const names: [how: string, claims: object, status: number][] = [
    ['an address that is verified', { email_verified: true }, 200],
    ['an address that is not verified', { email_verified: false }, 403],
    ['an address that is not verified, in words', { email_verified: 'false' }, 403],
    ['nothing', { email: undefined }, 403],
    ['a number', { email: 7 }, 403],
    ['two names', { email: 'alice@example.org@evil.example' }, 403],
    ['one with a line break', { email: 'alice@example.org\nadmin' }, 403],
    ['one that looks like another', { email: 'аlice@example.org' }, 403],
    ['one that turns the text around', { email: 'alice\u202e@example.org' }, 403],
    ['one of a thousand characters', { email: `${'a'.repeat(1000)}@example.org` }, 403],
    ['one without its provider', { email: 'alice' }, 200],
  ]
  for (const [how, spoilt, status] of names) {
    test(how, async () => {
      provider.claims = { sub: how, ...spoilt }
      const { admin_tokens: tokens } = await hub.admin.listAccessTokens({})
      for (const { id, revoked_at: end } of tokens) {
        if (end === null) await hub.admin.revokeAccessToken({ token: id })
      }
      const reply = await finish()
      assert.equal(reply.status, status, reply.text)
      if (status === 403) assertRefusal(reply, 403, 'sign_in_name_invalid')
      else assert.match(String(reply.json['name']), /^alice@(example\.org|localhost)$/)
    })
  }

  test('a group alone is a list of it, and what is no group counts as none', async () => {
    provider.claims = { groups: 'staff' }
    assert.equal((await finish()).status, 200)
    for (const groups of [7, null, { staff: true }, ['STAFF', 7, 'x'.repeat(300), '*']]) {
      provider.claims = { groups }
      assertRefusal(await finish(), 403, 'sign_in_no_role')
    }
  })
})

test('[OID-14] a provider that asked the person long ago, or does not say when, is refused where it has to ask again', async () => {
  await using strict = await openOpenidHub({ variables, isAskedAgainForSvc: true })
  const nowSeconds = Math.floor(strict.clock.now().getTime() / 1000)
  for (const authTime of [undefined, nowSeconds - 60, String(nowSeconds), null]) {
    provider.claims = { auth_time: authTime }
    assertRefusal(await finish(strict), 401, 'sign_in_provider_refused')
  }
  provider.claims = { auth_time: nowSeconds }
  assert.equal((await finish(strict)).status, 200)
})

test('[OID-8] who has no role any more is out at once, wherever the person is in', async () => {
  provider.claims = { sub: 'leaver', email: 'leaver@example.org' }
  const { json } = await finish()
  const headers = { authorization: `Bearer ${String(json['token'])}` }
  const own = { method: 'GET', path: '/v1/admin/admin-tokens/own', headers }
  assert.equal((await send(hub.target, own)).status, 200)
  provider.claims = { ...provider.claims, groups: ['others'] }
  assertRefusal(await finish(), 403, 'sign_in_no_role')
  assertRefusal(await send(hub.target, own), 401, 'admin_token_invalid')
  const { eventos } = await hub.admin.listEntries({ tipo: 'admin_token_revoked' })
  const entry = eventos.find(({ payload: { name } }) => name === 'leaver@example.org')
  const { actor, reason } = entry?.payload ?? {}
  assert.deepEqual([actor, reason], ['hub', 'rights_changed'])
})

describe('[OID-10] [ERR-61] a provider that is in trouble', () => {
  const reply = (status: number, headers: object, body: string) => (response: ServerResponse) => {
    response.writeHead(status, { ...headers }).end(body)
  }
  const json = { 'content-type': 'application/json' }
  const answers: [how: string, answer: (response: ServerResponse) => void, code: string][] = [
    ['fails', reply(500, json, '{}'), 'sign_in_provider_unavailable'],
    ['is too busy', reply(429, json, '{}'), 'sign_in_provider_unavailable'],
    [
      'refuses the code',
      reply(400, json, '{"error":"invalid_grant","error_description":"<b>no\\n\\u202e"}'),
      'sign_in_provider_refused',
    ],
    [
      'sends us elsewhere',
      reply(302, { location: 'https://localhost/' }, ''),
      'sign_in_provider_refused',
    ],
    ['answers what is no JSON', reply(200, json, '<html>'), 'sign_in_provider_refused'],
    ['answers nothing', reply(204, {}, ''), 'sign_in_provider_refused'],
    [
      'answers without end',
      (response) => {
        response.writeHead(200, json)
        const more = (): boolean =>
          !response.destroyed && response.write(' '.repeat(65_536), () => more())
        more()
      },
      'sign_in_provider_refused',
    ],
    [
      'cuts the connection',
      (response) => {
        response.destroy()
      },
      'sign_in_provider_unavailable',
    ],
  ]
  for (const [how, answer, code] of answers) {
    for (const path of ['/token', '/keys']) {
      test(`${how}, at ${path}`, async () => {
        provider.answer = (asked, response) => {
          if (asked === path) answer(response)
          return asked === path
        }
        const said = await finish()
        assert.equal(said.json['error'], code, said.text)
        if (how === 'refuses the code' && path === '/token') {
          assert.equal(
            said.json['message'],
            'the OpenID provider: invalid_grant: <b>no??',
            'of its text only what can be shown',
          )
        }
      })
    }
  }

  test('[OID-9] says a lot: of that a message has 300 characters, all of them ASCII', async () => {
    provider.answer = (asked, response) => {
      const said = { error: 'invalid_grant', error_description: 'é'.repeat(1000) }
      if (asked === '/token') reply(400, json, JSON.stringify(said))(response)
      return asked === '/token'
    }
    const { json: refused } = await finish()
    assert.match(String(refused['message']), /^the OpenID provider: invalid_grant: [ -~]{200,265}$/)
  })

  test('that never answers is given up, and the sign-in can be finished later', async () => {
    provider.answer = (asked) => asked === '/token'
    const caller = newCaller()
    const begun = await askOpenid(hub.target, 'start', startOf('svc', caller), {})
    const url = String(begun.json['url'])
    provider.begin(url)
    const state = new URL(url).searchParams.get('state')
    const body = { code: 'a code', state, secret: caller.secret }
    const waiting = askOpenid(hub.target, 'finish', body, {})
    assertRefusal(await waiting, 503, 'sign_in_provider_unavailable')
    provider.behave()
    assert.equal((await askOpenid(hub.target, 'finish', body, {})).status, 200)
  })

  test('[OID-8] [OID-11] is no refusal of the log, and who tries again and again is told to wait', async () => {
    await using other = await openOpenidHub({
      variables,
      limits: { ...UNLIMITED, adminFailuresPerMinute: 3 },
    })
    const caller = newCaller()
    const begun = await askOpenid(other.target, 'start', startOf('svc', caller), {})
    const state = new URL(String(begun.json['url'])).searchParams.get('state')
    provider.answer = (asked, response) => {
      if (asked === '/token') response.destroy()
      return asked === '/token'
    }
    const statuses: number[] = []
    for (let time = 0; time < 4; time += 1) {
      const body = { code: 'a code', state, secret: caller.secret }
      statuses.push((await askOpenid(other.target, 'finish', body, {})).status)
    }
    assert.deepEqual(statuses, [503, 503, 503, 429])
    assert.deepEqual(await actsOf(other.store, 'admin_refused'), [])
  })

  test('is asked once however many wait for it, and again no oftener than each ten seconds', async () => {
    provider.answer = (_asked, response) => {
      response.writeHead(500).end()
      return true
    }
    await using other = await openOpenidHub({ variables })
    provider.asked.length = 0
    const asked = await Promise.all(Array.from({ length: 10 }, () => finish(other)))
    for (const each of asked) assertRefusal(each, 503, 'sign_in_provider_unavailable')
    other.clock.pass(9000)
    assertRefusal(await finish(other), 503, 'sign_in_provider_unavailable')
    assert.equal(provider.asked.length, 1)
    provider.behave()
    other.clock.pass(2000)
    assert.equal((await finish(other)).status, 200)
  })

  test('that is another one than the settings say is not asked for anything', async () => {
    provider.metadata = { issuer: 'https://evil.example' }
    await using other = await openOpenidHub({ variables })
    assertRefusal(await finish(other), 503, 'sign_in_provider_unavailable')
  })

  test('[OID-9] [ENV-98] whose certificate the hub does not know is not asked', async () => {
    const { SVC_OIDC_CA_PATH: _path, ...settings } = variables
    await using other = await openOpenidHub({ variables: settings })
    provider.asked.length = 0
    assertRefusal(await finish(other), 503, 'sign_in_provider_unavailable')
    assert.equal(provider.asked.length, 0)
  })
})
