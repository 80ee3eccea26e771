// The console at the admin port, over TLS, beside what needs credentials.

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { assertRefusal, openDoors } from '../../../test/support/console-page.ts'
import { createSettableClock } from '../../../test/support/settable-clock.ts'
import { openTemporaryStore } from '../../../test/support/temporary-store.ts'
import { openAdmin } from '../../../test/support/told-admin.ts'
import { send, type WireReply } from '../../../test/support/wire-client.ts'
import { placeBuiltConsole } from '../../../test/support/built-console.ts'

type Ask = (method: string, path: string) => Promise<WireReply>

async function withPort(
  isConsoleServed: boolean,
  work: (ask: Ask) => Promise<void>,
): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const store = stack.use(await openTemporaryStore())
  const { target } = stack.use(
    await openDoors(store, createSettableClock(new Date()), { isConsoleServed }),
  )
  await work((method, path) => send(target, { method, path, headers: {} }))
}

function statusOf({ status, json }: WireReply): string {
  const { error } = (json ?? {}) as { readonly error?: string }
  return error === undefined ? String(status) : `${status} ${error}`
}

describe('[CON-1] the console at the admin port', () => {
  before(placeBuiltConsole)

  test('is there for everybody, and nothing else is', async () => {
    await withPort(true, async (ask) => {
      const page = await ask('GET', '/console/')
      assert.equal(page.status, 200)
      assert.match(page.text, /^<!doctype html>/)
      const [, script = ''] = /src="(\/console\/assets\/console-\w+\.js)"/.exec(page.text) ?? []
      assert.equal(
        (await ask('GET', script)).headers['content-type'],
        'text/javascript; charset=utf-8',
      )
      // Nobody resolves the dots: the last one is a path of the console too, and reaches nothing else.
      for (const path of [
        '/console/hosts/x?q=1',
        '/console/a/b/c/d',
        '/console/%00',
        '/console/../v1/admin/status',
      ]) {
        assert.equal((await ask('GET', path)).text, page.text, path)
      }
      for (const path of ['/', '/console']) {
        const { status, headers } = await ask('GET', path)
        assert.deepEqual([status, headers['location']], [302, '/console/'])
      }
      const cases = [
        ['GET', '/console/assets/none.js', '404'],
        ['POST', '/console/', '401 admin_token_invalid'],
        ['GET', '/consoles', '401 admin_token_invalid'],
        ['GET', '/v1/admin/status', '401 admin_token_invalid'],
        ['GET', '/v1/console/sealing', '401 admin_token_invalid'],
        ['GET', '/v1/openapi.json', '401 admin_token_invalid'],
        ['GET', '/none', '401 admin_token_invalid'],
      ] as const
      for (const [method, path, expected] of cases) {
        assert.equal(statusOf(await ask(method, path)), expected, `${method} ${path}`)
      }
    })
  })

  test('is not there when it is turned off', async () => {
    await withPort(false, async (ask) => {
      for (const path of ['/', '/console', '/console/', '/console/assets/x.js']) {
        assert.equal(statusOf(await ask('GET', path)), '401 admin_token_invalid', path)
      }
    })
  })
})

test('[CON-5] who is let in is told whether the page may seal, nobody else, and nobody where there is no console', async () => {
  for (const [isConsoleServed, isConsoleSealing] of [
    [true, false],
    [true, true],
    [false, true],
  ] as const) {
    await using stack = new AsyncDisposableStack()
    const store = stack.use(await openTemporaryStore())
    const clock = createSettableClock(new Date())
    const settings = { isConsoleServed, isConsoleSealing }
    const { target } = stack.use(await openDoors(store, clock, settings))
    const { token } = await openAdmin(store, { clock }).admin.createAccessToken({
      name: 'ana',
      role: 'viewer',
    })
    const path = '/v1/console/sealing'
    const reply = await send(target, {
      method: 'GET',
      path,
      headers: { authorization: `Bearer ${token}` },
    })
    if (isConsoleServed) {
      assert.deepEqual([reply.status, reply.json], [200, { sealing: isConsoleSealing }])
    } else {
      assertRefusal(reply, 404, 'route_not_found')
    }
    assertRefusal(await send(target, { method: 'GET', path }), 401, 'admin_token_invalid')
  }
})
