// Sessions at the admin port, over TLS, as a browser and those who would like to be one have them: docs/protocol.md SES.

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
  type Page,
  SAME_ORIGIN,
  SESSIONS,
  signIn,
} from '../../test/support/console-page.ts'
import { waitUntil } from '../../test/support/processes.ts'
import { readActs } from '../../test/support/recorded-acts.ts'
import { createSettableClock } from '../../test/support/settable-clock.ts'
import { openSharingStores } from '../../test/support/temporary-store.ts'
import { openAdmin } from '../../test/support/told-admin.ts'
import { send } from '../../test/support/wire-client.ts'
import { insertAgent, NOW } from '../../test/store/store-samples.ts'
import { hashToken } from './domain/hash-token.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

describe('a session', () => {
  test('[SES-1] [SES-2] begins with a token, and has one half in a cookie that no script reads, one in the reply', async () => {
    await using hub = await openConsole()
    const page = await signIn(hub.target, hub.token)
    assert.match(
      page.setCookie,
      /^__Host-cartorio=svcc_[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
    )
    assert.match(page.secret, /^svcs_[\w-]{43}$/)
    assert.ok(!page.cookie.endsWith(page.secret.slice('svcs_'.length)), 'each is random by itself')
    const { json } = await askAs(hub.target, headersOf(page))
    assert.deepEqual(json, {
      id: page.id,
      name: 'ana',
      role: 'operator',
      only: null,
      address: '127.0.0.1',
      started_at: NOW.toISOString(),
      last_used_at: NOW.toISOString(),
      idle_ends_at: new Date(NOW.getTime() + 30 * MINUTE_MS).toISOString(),
      ends_at: new Date(NOW.getTime() + 12 * HOUR_MS).toISOString(),
    })
  })

  test('[SES-3] is nobody with one half, with halves of two sessions, or from another page', async () => {
    await using hub = await openConsole()
    const page = await signIn(hub.target, hub.token)
    const other = await signIn(hub.target, hub.token)
    const { cookie, secret } = page
    const header = { 'cartorio-session': secret }
    const refused: Readonly<Record<string, Readonly<Record<string, string>>>> = {
      'a stolen cookie alone': { cookie, ...SAME_ORIGIN },
      'the header alone': { ...header, ...SAME_ORIGIN },
      'no Sec-Fetch-Site': { cookie, ...header },
      'another site': { cookie, ...header, 'sec-fetch-site': 'cross-site' },
      'another port of the host': { cookie, ...header, 'sec-fetch-site': 'same-site' },
      'the address bar': { cookie, ...header, 'sec-fetch-site': 'none' },
      'the header of another session': headersOf({ cookie, secret: other.secret }),
      'the cookie of another session': headersOf({ cookie: other.cookie, secret }),
      'the cookie in the header': headersOf({ cookie, secret: cookie.slice(16) }),
      'two cookies': headersOf({ cookie: `${cookie}; ${other.cookie}`, secret }),
      'a cookie of another name': headersOf({ cookie: cookie.replace('__Host-', ''), secret }),
      'a half cut short': headersOf({ cookie, secret: secret.slice(0, -1) }),
      'rubbish in both': headersOf({ cookie: `${cookie}x`, secret: `${secret}x` }),
      'a token besides': { ...headersOf(page), authorization: `Bearer ${hub.token}` },
    }
    for (const [what, headers] of Object.entries(refused)) {
      const reply = await askAs(hub.target, headers)
      assert.deepEqual([reply.status, reply.json['error']], [401, 'admin_token_invalid'], what)
      assert.equal(reply.headers['set-cookie'], undefined)
    }
    await assertIn(hub.target, page)
    await assertIn(hub.target, other)
    await waitUntil('refusals to be recorded', async () =>
      (await actsOf(hub.store, 'admin_refused')).length > 0 ? true : undefined,
    )
    const [[, first] = ['', {}]] = await actsOf(hub.store, 'admin_refused')
    assert.deepEqual(first, {
      actor: 'unknown',
      reason: 'admin_token_invalid',
      address: '127.0.0.1',
      count: 1,
    })
  })

  test('[SES-3] a token counts whatever cookie a browser sends along', async () => {
    await using hub = await openConsole()
    const { cookie } = await signIn(hub.target, hub.token)
    const headers = { cookie, authorization: `Bearer ${hub.token}` }
    assert.equal((await askAs(hub.target, headers, '/v1/admin/features')).status, 200)
    assertRefusal(await askAs(hub.target, headers), 404, 'session_not_found')
  })

  test('[SES-2] begins for no page of others, with no session, and no foreign origin is permitted', async () => {
    await using hub = await openConsole()
    const page = await signIn(hub.target, hub.token)
    for (const headers of [
      {},
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      headersOf(page),
    ]) {
      const reply = await askToSignIn(hub.target, hub.token, headers)
      assertRefusal(reply, 401, 'admin_token_invalid')
      assert.equal(reply.headers['set-cookie'], undefined)
    }
    for (const path of [SESSIONS, '/v1/admin/tokens', '/']) {
      const headers = {
        ...headersOf(page),
        origin: 'https://evil.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'cartorio-session',
      }
      const reply = await send(hub.target, { method: 'OPTIONS', path, headers })
      assert.ok(reply.status >= 400)
      const names = Object.keys(reply.headers)
      assert.deepEqual(
        names.filter((name) => name.startsWith('access-control')),
        [],
      )
    }
  })

  test('[SES-8] has role and bound of its token', async () => {
    await using hub = await openConsole()
    await insertAgent(hub.store, 'web-1')
    const { token: viewer } = await hub.admin.createAccessToken({ name: 'vera', role: 'viewer' })
    const bounded = { name: 'bo', role: 'viewer', only: 'env=stage' } as const
    const { token: ofSome } = await hub.admin.createAccessToken(bounded)
    const page = await signIn(hub.target, viewer)
    const revoke = '/v1/admin/admin-tokens/revoke'
    assertRefusal(
      await askAs(hub.target, headersOf(page), revoke, { token: 'ana' }),
      403,
      'role_insufficient',
    )
    assert.equal((await askAs(hub.target, headersOf(page), '/v1/admin/tokens')).status, 200)
    const few = headersOf(await signIn(hub.target, ofSome))
    assertRefusal(await askAs(hub.target, few, '/v1/admin/tokens'), 403, 'token_bounded')
    const { json } = await askAs(hub.target, few, '/v1/admin/agentes')
    assert.deepEqual(json['agentes'], [])
    assert.equal((await askAs(hub.target, few)).json['only'], 'env=stage')
  })

  test('[SES-4] [SES-5] [ERR-49] ends when it is signed out of, which its page is told and the log has', async () => {
    await using hub = await openConsole()
    const page = await signIn(hub.target, hub.token)
    const kept = await signIn(hub.target, hub.token)
    const reply = await askAs(hub.target, headersOf(page), `${SESSIONS}/end`, {})
    assert.deepEqual([reply.status, reply.json['id']], [200, page.id])
    const before = (await readActs(hub.store.reader)).length
    for (let time = 0; time < 3; time += 1) {
      assertRefusal(await askAs(hub.target, headersOf(page)), 401, 'session_ended')
    }
    // Only who has both halves is told.
    assertRefusal(
      await askAs(hub.target, headersOf({ ...page, secret: kept.secret })),
      401,
      'admin_token_invalid',
    )
    await assertIn(hub.target, kept)
    const acts = await readActs(hub.store.reader)
    assert.equal(acts.slice(before).filter(([type]) => type !== 'admin_refused').length, 0)
    const session = { session_id: page.id, name: 'ana', role: 'operator', address: '127.0.0.1' }
    const ends_at = new Date(NOW.getTime() + 12 * HOUR_MS).toISOString()
    assert.deepEqual(
      acts.filter(([, payload]) => JSON.stringify(payload).includes(page.id)),
      [
        ['session_started', { actor: 'token:ana', ...session, by: 'admin_token', ends_at }],
        ['session_ended', { actor: 'token:ana', ...session, reason: 'signed_out' }],
      ],
    )
    const text = JSON.stringify(acts)
    for (const half of [page.secret, page.cookie.slice(16), hub.token]) {
      assert.ok(!text.includes(half) && !text.includes(hashToken(half)))
    }
  })

  test('[SES-4] an ended session that asks on and on is no refusal of the log, and limits nobody', async () => {
    await using hub = await openConsole({ adminFailuresPerMinute: 2 })
    const page = await signIn(hub.target, hub.token)
    await askAs(hub.target, headersOf(page), `${SESSIONS}/end`, {})
    for (let time = 0; time < 10; time += 1) {
      assertRefusal(await askAs(hub.target, headersOf(page)), 401, 'session_ended')
    }
    assert.deepEqual(await actsOf(hub.store, 'admin_refused'), [])
    assertRefusal(await askToSignIn(hub.target, 'svca_rubbish'), 401, 'admin_token_invalid')
  })

  test('[SES-6] ends when it was idle, not before, and stays so when the clock goes back', async () => {
    await using hub = await openConsole()
    const page = await signIn(hub.target, hub.token)
    const noted = async (at: Date) =>
      waitUntil('the use to be noted', async () => {
        const [session] = await hub.store.reader.sessions.list()
        return session?.lastUsedAt.getTime() === at.getTime() ? true : undefined
      })
    for (let time = 0; time < 3; time += 1) {
      hub.clock.pass(29 * MINUTE_MS)
      await assertIn(hub.target, page)
      await noted(hub.clock.now())
    }
    // Within a minute, nothing is written.
    const { version } = hub.store
    hub.clock.pass(59_000)
    await assertIn(hub.target, page)
    assert.equal(hub.store.version, version)
    hub.clock.pass(31 * MINUTE_MS)
    assertRefusal(await askAs(hub.target, headersOf(page)), 401, 'session_ended')
    await waitUntil('the end to be noted', async () => {
      const [session] = await hub.store.reader.sessions.list()
      return session?.endedAt === null ? undefined : true
    })
    hub.clock.pass(-31 * MINUTE_MS)
    assertRefusal(await askAs(hub.target, headersOf(page)), 401, 'session_ended')
  })

  test('[SES-6] what nobody asked for does not put off its end', async () => {
    await using hub = await openConsole()
    const page = await signIn(hub.target, hub.token)
    const unattended = { ...headersOf(page), 'cartorio-unattended': '1' }
    for (let minutes = 0; minutes < 29; minutes += 1) {
      hub.clock.pass(MINUTE_MS)
      assert.equal((await askAs(hub.target, unattended)).status, 200)
    }
    hub.clock.pass(MINUTE_MS)
    assertRefusal(await askAs(hub.target, unattended), 401, 'session_ended')
  })

  test('[SES-6] ends after twelve hours of use', async () => {
    await using hub = await openConsole()
    const page = await signIn(hub.target, hub.token)
    for (let quarter = 0; quarter < 47; quarter += 1) {
      hub.clock.pass(15 * MINUTE_MS)
      await assertIn(hub.target, page)
      const now = hub.clock.now()
      await waitUntil('the use to be noted', async () => {
        const [session] = await hub.store.reader.sessions.list()
        return session?.lastUsedAt.getTime() === now.getTime() ? true : undefined
      })
    }
    hub.clock.pass(15 * MINUTE_MS - 1)
    await assertIn(hub.target, page)
    hub.clock.pass(1)
    assertRefusal(await askAs(hub.target, headersOf(page)), 401, 'session_ended')
  })

  test('[SES-7] ends with its token, that expires or is revoked', async () => {
    await using hub = await openConsole()
    const brief = { name: 'brief', role: 'viewer', ttl_seconds: 600 } as const
    const { token } = await hub.admin.createAccessToken(brief)
    const page = await signIn(hub.target, token)
    const own = await signIn(hub.target, hub.token)
    const { json } = await askAs(hub.target, headersOf(page))
    assert.equal(json['ends_at'], new Date(NOW.getTime() + 600_000).toISOString())
    hub.clock.pass(600_000)
    assertRefusal(await askAs(hub.target, headersOf(page)), 401, 'session_ended')
    await assertIn(hub.target, own)
    await hub.admin.revokeAccessToken({ token: 'ana' })
    assertRefusal(await askAs(hub.target, headersOf(own)), 401, 'session_ended')
    assert.deepEqual((await hub.admin.listSessions({})).sessions, [])
  })

  test('[SES-9] goes on after a restart of the hub, and at another hub that shares the vault', async () => {
    await using stack = new AsyncDisposableStack()
    const { all } = stack.use(await openSharingStores(2))
    const [first, second] = all
    assert.ok(first !== undefined && second !== undefined)
    const clock = createSettableClock(NOW)
    const { admin } = openAdmin(first, { clock })
    const { token } = await admin.createAccessToken({ name: 'ana', role: 'viewer' })
    const doors = await openDoors(first, clock)
    const page = await signIn(doors.target, token)
    await doors[Symbol.asyncDispose]()
    const again = stack.use(await openDoors(first, clock))
    await assertIn(again.target, page)
    const other = stack.use(await openDoors(second, clock))
    await second.follow()
    await assertIn(other.target, page)
    await askAs(again.target, headersOf(page), `${SESSIONS}/end`, {})
    await second.follow()
    assertRefusal(await askAs(other.target, headersOf(page)), 401, 'session_ended')
  })

  test('[SES-10] so many has a token, of which the oldest ends; and so often in a minute', async () => {
    await using hub = await openConsole()
    const first = await signIn(hub.target, hub.token)
    for (let at = 1; at < 10; at += 1) await signIn(hub.target, hub.token)
    const reply = await askToSignIn(hub.target, hub.token)
    assertRefusal(reply, 429, 'rate_limited')
    assert.equal(reply.headers['retry-after'], '6')
    for (let at = 10; at < 50; at += 1) {
      hub.clock.pass(6000)
      await signIn(hub.target, hub.token)
    }
    await assertIn(hub.target, first)
    hub.clock.pass(6000)
    const last = await signIn(hub.target, hub.token)
    assertRefusal(await askAs(hub.target, headersOf(first)), 401, 'session_ended')
    await assertIn(hub.target, last)
    const [[, payload] = []] = await actsOf(hub.store, 'session_ended')
    assert.deepEqual(payload, {
      actor: 'hub',
      session_id: first.id,
      name: 'ana',
      role: 'operator',
      address: '127.0.0.1',
      reason: 'too_many',
    })
  })

  test('[SES-8] its cookie is the credential of a repeated create', async () => {
    await using hub = await openConsole()
    const { token } = await hub.admin.createAccessToken({ name: 'root', role: 'admin' })
    const [page, other] = [await signIn(hub.target, token), await signIn(hub.target, token)]
    const make = (of: Page) => {
      const headers = { ...headersOf(of), 'idempotency-key': 'k'.repeat(16) }
      return askAs(hub.target, headers, '/v1/admin/admin-tokens', { name: 'new', role: 'viewer' })
    }
    const made = await make(page)
    assert.equal(made.status, 200)
    assert.deepEqual((await make(page)).json, made.json)
    assertRefusal(await make(other), 409, 'admin_token_exists')
    const [[, payload] = []] = (await actsOf(hub.store, 'admin_token_created')).slice(-1)
    assert.equal((payload as { actor: string }).actor, 'token:root')
  })

  test('[SES-11] those of the own token are listed and ended, by role admin all', async () => {
    await using hub = await openConsole()
    const { token } = await hub.admin.createAccessToken({ name: 'root', role: 'admin' })
    const [ana, root] = [await signIn(hub.target, hub.token), await signIn(hub.target, token)]
    const list = async (page: Page) =>
      ((await askAs(hub.target, headersOf(page), SESSIONS)).json['sessions'] as { id: string }[])
        .map(({ id }) => id)
        .sort()
    assert.deepEqual(await list(ana), [ana.id])
    assert.deepEqual(await list(root), [ana.id, root.id].sort())
    const end = (page: Page, session: string) =>
      askAs(hub.target, headersOf(page), `${SESSIONS}/end`, { session })
    assertRefusal(await end(ana, root.id), 404, 'session_not_found')
    assert.equal((await end(root, ana.id.slice(0, 8))).status, 200)
    assertRefusal(await askAs(hub.target, headersOf(ana)), 401, 'session_ended')
    assertRefusal(await end(root, ana.id), 404, 'session_not_found')
    assertRefusal(await end(root, root.id.slice(0, 7)), 400, 'request_invalid')
    await assertIn(hub.target, root, 'root')
  })

  test('[SES-11] a beginning that two sessions have names neither', async () => {
    await using hub = await openConsole()
    const page = await signIn(hub.target, hub.token)
    const [own = assert.fail()] = await hub.store.reader.sessions.list()
    await hub.store.write(async (writer) => {
      for (const last of ['1', '2']) {
        const cookieHash = `abababab${last}`.padEnd(64, '0') as typeof own.cookieHash
        await writer.sessions.insert({ ...own, cookieHash })
      }
    })
    const end = (session: string) =>
      askAs(hub.target, headersOf(page), `${SESSIONS}/end`, { session })
    assertRefusal(await end('abababab'), 404, 'session_not_found')
    assert.equal((await end('abababab1')).status, 200)
    assert.equal((await end('abababab')).status, 200, 'one is left')
  })

  test('[SES-6] [SES-4] one of a clock that ran ahead ends when the clock is right again', async () => {
    await using hub = await openConsole()
    const early = await signIn(hub.target, hub.token)
    hub.clock.pass(29 * MINUTE_MS)
    const begun = await signIn(hub.target, hub.token)
    await assertIn(hub.target, early)
    const list = () => hub.store.reader.sessions.list()
    const isUsed = async () => (await list()).every(({ lastUsedAt }) => lastUsedAt > NOW)
    await waitUntil('the use to be written', async () => (await isUsed()) || undefined)
    hub.clock.pass(-MINUTE_MS)
    await assertIn(hub.target, begun)
    hub.clock.pass(-1)
    for (const page of [begun, early]) {
      assertRefusal(await askAs(hub.target, headersOf(page)), 401, 'session_ended')
    }
    const rightMs = hub.clock.now().getTime()
    const isEnded = async () => (await list()).every((each) => each.endedAt?.getTime() === rightMs)
    await waitUntil('both ends to be written', async () => (await isEnded()) || undefined)
    hub.clock.pass(MINUTE_MS)
    assertRefusal(await askAs(hub.target, headersOf(begun)), 401, 'session_ended')
    assert.deepEqual(await actsOf(hub.store, 'session_ended'), [])
    assert.deepEqual(await actsOf(hub.store, 'admin_refused'), [])
  })
})
