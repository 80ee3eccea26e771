// How a session begins by a link, and what strangers who ask for one cost: docs/protocol.md SES-13 to SES-15.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  actsOf,
  askAs,
  askToSignIn,
  assertIn,
  assertRefusal,
  headersOf,
  openConsole,
  openDoors,
  SAME_ORIGIN,
  signIn,
  UNLIMITED,
} from '../../test/support/console-page.ts'
import { waitUntil } from '../../test/support/processes.ts'
import { readActs } from '../../test/support/recorded-acts.ts'
import { createSettableClock } from '../../test/support/settable-clock.ts'
import { openTemporaryStore } from '../../test/support/temporary-store.ts'
import { type Target } from '../../test/support/wire-client.ts'
import { NOW } from '../../test/store/store-samples.ts'
import type { Store } from './store/store.ts'

const HOUR_MS = 3_600_000

describe('a link', () => {
  test('[SES-13] [ERR-50] signs in once, and a second time is an entry of the log', async () => {
    await using hub = await openConsole()
    const { code, url } = await hub.admin.createSignInLink({ name: 'ana' })
    assert.match(code, /^svcl_[\w-]{43}$/)
    assert.equal(url, 'https://hub.test:8445')
    // Good for nothing else.
    const bearer = { authorization: `Bearer ${code}`, ...SAME_ORIGIN }
    assertRefusal(await askAs(hub.target, bearer), 401, 'admin_token_invalid')
    await assertIn(hub.target, await signIn(hub.target, code))
    const [[, started] = []] = await actsOf(hub.store, 'session_started')
    assert.equal((started as { by: string }).by, 'sign_in_code')
    const replayed = await askToSignIn(hub.target, code)
    assertRefusal(replayed, 401, 'sign_in_code_used')
    assert.equal(replayed.headers['set-cookie'], undefined)
    const refused = await waitUntil('the replay to be recorded', async () =>
      (await actsOf(hub.store, 'admin_refused')).find(
        ([, payload]) => (payload as { reason: string }).reason === 'sign_in_code_used',
      ),
    )
    assert.deepEqual(refused[1], {
      actor: 'token:ana',
      reason: 'sign_in_code_used',
      address: '127.0.0.1',
      count: 1,
    })
    assert.ok(!JSON.stringify(await readActs(hub.store.reader)).includes(code))
    const operator = { authorization: `Bearer ${hub.token}` }
    const asked = await askAs(hub.target, operator, '/v1/admin/sign-in-links', { name: 'ana' })
    assertRefusal(asked, 403, 'role_insufficient')
  })

  test('[SES-13] of two that come with one code at once, one is let in', async () => {
    await using hub = await openConsole()
    const { code } = await hub.admin.createSignInLink({ name: 'ana' })
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => askToSignIn(hub.target, code)),
    )
    assert.deepEqual(
      replies.map(({ status }) => status).toSorted((one, other) => one - other),
      [200, 401, 401, 401, 401],
    )
    assert.equal((await hub.store.reader.sessions.list()).length, 1)
  })

  test('[SES-13] [ERR-51] is good for as long as it says, and while its token is', async () => {
    await using hub = await openConsole()
    const late = await hub.admin.createSignInLink({ name: 'ana', valid_seconds: 60 })
    const kept = await hub.admin.createSignInLink({ name: 'ana' })
    const used = await hub.admin.createSignInLink({ name: 'ana' })
    assert.equal(kept.expires_at, new Date(NOW.getTime() + 300_000).toISOString())
    await signIn(hub.target, used.code)
    hub.clock.pass(60_000)
    assertRefusal(await askToSignIn(hub.target, late.code), 401, 'sign_in_code_expired')
    await hub.admin.revokeAccessToken({ token: 'ana' })
    for (const { code } of [kept, used, late]) {
      assertRefusal(await askToSignIn(hub.target, code), 401, 'admin_token_invalid')
    }
    await assert.rejects(hub.admin.createSignInLink({ name: 'ana' }), {
      code: 'admin_token_not_found',
    })
  })

  test('[SES-14] makes a token that nobody has the text of, when it is given a role', async () => {
    await using hub = await openConsole()
    const made = await hub.admin.createSignInLink({
      name: 'on-call',
      role: 'viewer',
      ttl_seconds: 3600,
    })
    const page = await signIn(hub.target, made.code)
    await assertIn(hub.target, page, 'on-call')
    const { json } = await askAs(hub.target, headersOf(page))
    assert.deepEqual(
      [json['role'], json['ends_at']],
      ['viewer', new Date(NOW.getTime() + HOUR_MS).toISOString()],
    )
    assert.deepEqual(
      (await readActs(hub.store.reader)).slice(1, 3).map(([type]) => type),
      ['admin_token_created', 'sign_in_link_created'],
    )
    for (const [request, code] of [
      [{ name: 'on-call', role: 'admin' }, 'admin_token_exists'],
      [{ name: 'on-call', ttl_seconds: 60 }, 'request_invalid'],
    ] as const) {
      await assert.rejects(hub.admin.createSignInLink(request), { code })
    }
    await hub.admin.revokeAccessToken({ token: 'on-call' })
    assertRefusal(await askAs(hub.target, headersOf(page)), 401, 'session_ended')
    const { token_expires_at: halfDay } = await hub.admin.createSignInLink({
      name: 'half-a-day',
      role: 'viewer',
    })
    assert.equal(halfDay, new Date(NOW.getTime() + 12 * HOUR_MS).toISOString())
    const brief = { name: 'brief', role: 'viewer', ttl_seconds: 60 } as const
    const { expires_at: end, token_expires_at: tokenEnd } = await hub.admin.createSignInLink(brief)
    assert.equal(end, tokenEnd, 'no link is said to be good for longer than its token')
  })
})

describe('[SES-15] a stranger', () => {
  /** The calls of the store while `work` runs. */
  async function countCalls(work: (target: Target) => Promise<void>): Promise<string[]> {
    await using stack = new AsyncDisposableStack()
    const store = stack.use(await openTemporaryStore())
    const calls: string[] = []
    const counting = <T extends object>(of: T, prefix: string): T =>
      new Proxy(of, {
        get: (target, name, receiver) => {
          const value: unknown = Reflect.get(target, name, receiver)
          if (name === 'sessions') return counting(value as object, 'sessions.')
          if (typeof value !== 'function') return value
          return (...given: unknown[]) => {
            calls.push(`${prefix}${String(name)}`)
            return (value as (...args: unknown[]) => unknown).apply(target, given)
          }
        },
      })
    const watched: Store = {
      ...store,
      reader: counting(store.reader, ''),
      write: (work_) => {
        calls.push('write')
        return store.write(work_)
      },
    }
    const clock = createSettableClock(NOW)
    const { target } = stack.use(await openDoors(watched, clock, { limits: UNLIMITED }))
    await work(target)
    return calls.sort()
  }

  const writesIn = (calls: readonly string[]) => calls.filter((name) => name === 'write').length
  const rubbish = (at: number, prefix: string) => `${prefix}${String(at).padStart(43, 'A')}`

  test('who asks for a session costs no more than one who brings a wrong token', async () => {
    const many = Array.from({ length: 20 }, (_, at) => at)
    const bearer = await countCalls(async (target) => {
      for (const at of many) {
        const headers = { authorization: `Bearer ${rubbish(at, 'svca_')}` }
        assert.equal((await askAs(target, headers, '/v1/admin/tokens')).status, 401)
      }
    })
    for (const prefix of ['svca_', 'svcl_', '']) {
      const asked = await countCalls(async (target) => {
        for (const at of many) {
          const body = `{"a":"${'x'.repeat(100_000)}"}`
          const reply = await askToSignIn(target, rubbish(at, prefix), SAME_ORIGIN, body)
          assert.equal(reply.status, 401)
        }
      })
      assert.ok(asked.length <= bearer.length, `${prefix}: ${asked.join(' ')}`)
      assert.equal(writesIn(asked), writesIn(bearer))
    }
    const halves = await countCalls(async (target) => {
      for (const at of many) {
        const cookie = `__Host-cartorio=${rubbish(at, 'svcc_')}`
        const headers = headersOf({ cookie, secret: rubbish(at, 'svcs_') })
        assert.equal((await askAs(target, headers)).status, 401)
      }
    })
    assert.ok(halves.length <= bearer.length, halves.join(' '))
  })

  test('is told to wait as one with a wrong token is', async () => {
    await using hub = await openConsole({ adminFailuresPerMinute: 3 })
    const codes: unknown[] = []
    for (let at = 0; at < 5; at += 1) {
      codes.push((await askToSignIn(hub.target, rubbish(at, 'svcl_'))).json['error'])
    }
    assert.deepEqual(codes.slice(0, 3), Array(3).fill('admin_token_invalid'))
    assert.deepEqual(codes.slice(3), ['rate_limited', 'rate_limited'])
  })

  test('and who may sign in sends a body of a kilobyte at most', async () => {
    await using hub = await openConsole()
    const body = JSON.stringify({ a: 'x'.repeat(1024) })
    assertRefusal(
      await askToSignIn(hub.target, hub.token, SAME_ORIGIN, body),
      413,
      'body_too_large',
    )
    assert.equal((await hub.store.reader.sessions.list()).length, 0)
  })
})
