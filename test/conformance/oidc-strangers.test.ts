// What strangers and other pages try with the sign-in by an OpenID provider: docs/protocol.md OID-3, OID-4, OID-11.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Agent } from 'node:https'
import { after, afterEach, before, describe, test } from 'node:test'
import { assertRefusal, SAME_ORIGIN } from '../support/console-page.ts'
import { type MisbehavingScene, openMisbehavingScene } from '../support/misbehaving-scene.ts'
import {
  askOpenid,
  type Caller,
  headersFor,
  newCaller,
  type OpenidHub,
  openOpenidHub,
  startOf,
} from '../support/openid-scene.ts'
import { send } from '../support/wire-client.ts'
import { DEFAULT_HUB_LIMITS } from '../../src/protocol/hub-limits.ts'
import { createUsedStates } from '../../src/hub/service/admin/openid/used-states.ts'

let scene: MisbehavingScene
let provider: MisbehavingScene['provider']
let variables: MisbehavingScene['variables']

before(async () => {
  scene = await openMisbehavingScene()
  ;({ provider, variables } = scene)
})
afterEach(() => provider.behave())
after(async () => {
  await scene[Symbol.asyncDispose]()
})

async function begin(hub: OpenidHub, wanted: 'console' | 'svc', caller: Caller): Promise<object> {
  const begun = await askOpenid(hub.target, 'start', startOf(wanted, caller), headersFor(wanted))
  assert.equal(begun.status, 200, begun.text)
  const url = String(begun.json['url'])
  provider.begin(url)
  return {
    code: 'a code',
    state: new URL(url).searchParams.get('state'),
    secret: caller.secret,
  }
}

function inOrder(statuses: readonly number[]): number[] {
  return statuses.toSorted((one, other) => one - other)
}

const INVALID = 'sign_in_state_invalid'

describe('[OID-4] [ERR-56] nobody finishes the sign-in of another one', () => {
  test('with another secret than it was begun with: whoever is sent a link signs in as nobody', async () => {
    await using hub = await openOpenidHub({ variables })
    const body = await begin(hub, 'console', newCaller())
    provider.asked.length = 0
    for (const secret of [newCaller().secret, 'A'.repeat(43)]) {
      assertRefusal(await askOpenid(hub.target, 'finish', { ...body, secret }), 401, INVALID)
    }
    const without = await askOpenid(hub.target, 'finish', { ...body, secret: undefined })
    assertRefusal(without, 400, 'request_invalid')
    assert.deepEqual(provider.asked, [], 'the provider was not asked')
    assert.equal((await askOpenid(hub.target, 'finish', body)).status, 200)
  })

  test('a second time, nor twice at once', async () => {
    await using hub = await openOpenidHub({ variables })
    const body = await begin(hub, 'console', newCaller())
    const replies = await Promise.all([0, 1, 2].map(() => askOpenid(hub.target, 'finish', body)))
    assert.deepEqual(inOrder(replies.map(({ status }) => status)), [200, 401, 401])
    assertRefusal(await askOpenid(hub.target, 'finish', body), 401, INVALID)
  })

  test('with a state of another hub, client or time, or one that was changed', async () => {
    const dataKey = randomBytes(32)
    await using hub = await openOpenidHub({ variables, dataKey })
    await using sharing = await openOpenidHub({ variables, dataKey })
    await using foreign = await openOpenidHub({ variables })
    const client = { ...variables, SVC_OIDC_CLIENT_ID: 'another' }
    await using other = await openOpenidHub({ variables: client, dataKey })
    const body = (await begin(hub, 'console', newCaller())) as { state: string }
    for (const wrong of [foreign, other]) {
      assertRefusal(await askOpenid(wrong.target, 'finish', body), 401, INVALID)
    }
    const middle = Math.floor(body.state.length / 2)
    const flipped = body.state[middle] === 'A' ? 'B' : 'A'
    const states = [
      `${body.state.slice(0, middle)}${flipped}${body.state.slice(middle + 1)}`,
      body.state.slice(0, -1),
      `${body.state}=`,
      'A',
      'A'.repeat(1024),
    ]
    for (const state of states) {
      assertRefusal(await askOpenid(hub.target, 'finish', { ...body, state }), 401, INVALID)
    }
    hub.clock.pass(600_000)
    assertRefusal(await askOpenid(hub.target, 'finish', body), 401, INVALID)
    // Of the same vault, within the time.
    assert.equal((await askOpenid(sharing.target, 'finish', body)).status, 200)
  })

  test('from a page of another origin, be it of the same host', async () => {
    await using hub = await openOpenidHub({ variables })
    for (const wanted of ['console', 'svc'] as const) {
      const body = await begin(hub, wanted, newCaller())
      for (const site of ['same-site', 'cross-site', 'none']) {
        const headers = { 'sec-fetch-site': site, origin: 'https://hub.test:9443' }
        assertRefusal(await askOpenid(hub.target, 'finish', body, headers), 401, INVALID)
        const asked = await askOpenid(hub.target, 'start', startOf(wanted, newCaller()), headers)
        assertRefusal(asked, 401, 'admin_token_invalid')
      }
    }
  })

  test('of a page for svc, and of svc for a page', async () => {
    await using hub = await openOpenidHub({ variables })
    const ofPage = await begin(hub, 'console', newCaller())
    assertRefusal(await askOpenid(hub.target, 'finish', ofPage, {}), 401, INVALID)
    const ofSvc = await begin(hub, 'svc', newCaller())
    assertRefusal(await askOpenid(hub.target, 'finish', ofSvc, SAME_ORIGIN), 401, INVALID)
    const oldBrowser = { origin: 'https://evil.example' }
    assertRefusal(await askOpenid(hub.target, 'finish', ofSvc, oldBrowser), 401, INVALID)
    assert.equal((await askOpenid(hub.target, 'finish', ofSvc, {})).status, 200)
  })

  test('what begins one names one of both, whole', async () => {
    await using hub = await openOpenidHub({ variables })
    const { key } = newCaller()
    const bodies = [
      { for: 'console' },
      { for: 'console', key: 'short' },
      { for: 'console', port: 7, key },
      { for: 'another', key },
    ]
    for (const body of bodies) {
      assertRefusal(await askOpenid(hub.target, 'start', body), 400, 'request_invalid')
    }
    for (const port of [undefined, 0, 70_000, '80', 'x@evil.example:80/']) {
      const body = { for: 'svc', port, key }
      assertRefusal(await askOpenid(hub.target, 'start', body, {}), 400, 'request_invalid')
    }
    await using without = await openOpenidHub({ variables, consoleUrl: undefined })
    const shown = await send(without.target, { path: '/v1/admin/oidc' })
    assert.equal(shown.json['console'], false)
    const page = await askOpenid(without.target, 'start', { for: 'console', key })
    assertRefusal(page, 400, 'request_invalid')
    const svc = await askOpenid(without.target, 'start', startOf('svc', newCaller()), {})
    assert.equal(svc.status, 200)
  })
})

describe('[OID-11] strangers cost little', () => {
  test('a thousand of one address begin no more than the limit, and leave nothing', async () => {
    await using hub = await openOpenidHub({ variables, limits: DEFAULT_HUB_LIMITS })
    const version = hub.store.version
    provider.asked.length = 0
    const statuses = new Map<number, number>()
    const agent = new Agent({ keepAlive: true, maxSockets: 4 })
    for (let at = 0; at < 1000; at += 1) {
      const body = startOf('svc', newCaller())
      const { status } = await askOpenid(hub.target, 'start', body, {}, agent)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    agent.destroy()
    assert.deepEqual(Object.fromEntries(statuses), { 200: 60, 429: 940 })
    assert.equal(hub.store.version, version, 'nothing was written')
    assert.deepEqual(provider.asked, ['/.well-known/openid-configuration'])
  })

  test('those who finish what they made up ask the provider for nothing', async () => {
    await using hub = await openOpenidHub({ variables, limits: DEFAULT_HUB_LIMITS })
    provider.asked.length = 0
    const codes = new Map<unknown, number>()
    const agent = new Agent({ keepAlive: true, maxSockets: 4 })
    for (let at = 0; at < 200; at += 1) {
      const state = randomBytes(300).toString('base64url')
      const body = { code: 'made up', state, secret: newCaller().secret }
      const { json } = await askOpenid(hub.target, 'finish', body, {}, agent)
      codes.set(json['error'], (codes.get(json['error']) ?? 0) + 1)
    }
    agent.destroy()
    assert.deepEqual(Object.fromEntries(codes), { sign_in_state_invalid: 60, rate_limited: 140 })
    assert.deepEqual(provider.asked, [])
    const huge = { code: 'x'.repeat(20_000), state: 'x', secret: newCaller().secret }
    const refused = await askOpenid(hub.target, 'finish', huge, {})
    assertRefusal(refused, 413, 'body_too_large')
  })

  test('the provider is asked for four at a time', async () => {
    await using hub = await openOpenidHub({ variables })
    const bodies = []
    for (let at = 0; at < 6; at += 1) bodies.push(await begin(hub, 'svc', newCaller()))
    const held: (() => void)[] = []
    let refused = 0
    /** Once all six are where they have to be, in whatever order they came there. */
    const goOn = (): void => {
      if (held.length === 4 && refused === 2) for (const answer of held) answer()
    }
    provider.answer = (path, response) => {
      if (path !== '/token') return false
      held.push(() => response.writeHead(400).end('{}'))
      goOn()
      return true
    }
    const replies = bodies.map(async (body) => {
      const { status } = await askOpenid(hub.target, 'finish', body, {})
      if (status === 429) {
        refused += 1
        goOn()
      }
      return status
    })
    assert.deepEqual(inOrder(await Promise.all(replies)), [401, 401, 401, 401, 429, 429])
  })

  test('what was finished is remembered within bounds', () => {
    const used = createUsedStates(2)
    assert.deepEqual([used.take('a'), used.take('a'), used.take('b')], [true, false, true])
    assert.deepEqual([used.take('c'), used.take('b'), used.take('a')], [true, false, true])
    used.giveBack('a')
    assert.equal(used.take('a'), true)
  })
})
