import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headersOf, SAME_ORIGIN } from '../../../test/support/console-page.ts'
import { collectLog } from '../../../test/support/collected-log.ts'
import { createSettableClock } from '../../../test/support/settable-clock.ts'
import { openTemporaryStore } from '../../../test/support/temporary-store.ts'
import { openAdmin } from '../../../test/support/told-admin.ts'
import { NOW } from '../../../test/store/store-samples.ts'
import { createAuthenticateOperator } from '../service/admin/authenticate-operator.ts'
import { createAuthenticateSession } from '../service/admin/sessions/authenticate-session.ts'
import { createStartSession, findStarterByCode } from '../service/admin/sessions/start-session.ts'
import { createOperatorDoor, type Operator } from './operator-door.ts'

const MINUTE_MS = 60_000

async function open() {
  const store = await openTemporaryStore()
  const clock = createSettableClock(NOW)
  const { log } = collectLog()
  const { admin } = openAdmin(store, { clock })
  const { token } = await admin.createAccessToken({ name: 'ana', role: 'viewer' })
  const door = createOperatorDoor({
    authenticateOperator: createAuthenticateOperator(store, clock, log),
    authenticateSession: createAuthenticateSession(store, clock, log),
    findByCode: (code) => findStarterByCode(store.reader, code, clock.now()),
  })
  const begun = await createStartSession(store, clock)(token, false, '192.0.2.7')
  assert.ok('cookie' in begun)
  const cookie = `__Host-cartorio=${begun.cookie}`
  const enter = async (headers: Readonly<Record<string, string>>): Promise<Operator> => {
    const found = await door.authenticate(headers)
    assert.ok('findEnd' in found)
    return found
  }
  return {
    store,
    clock,
    admin,
    id: begun.view.id,
    bySession: () => enter(headersOf({ cookie, secret: begun.secret })),
    byToken: () => enter({ authorization: `Bearer ${token}`, ...SAME_ORIGIN }),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}

test('[SES-7] what stays open is told when its token is revoked', async () => {
  await using hub = await open()
  const [session, token] = [await hub.bySession(), await hub.byToken()]
  assert.deepEqual([await session.findEnd(), await token.findEnd()], [undefined, undefined])
  await hub.admin.revokeAccessToken({ token: 'ana' })
  assert.deepEqual(
    [await session.findEnd(), await token.findEnd()],
    ['session_ended', 'admin_token_invalid'],
  )
})

test('[SES-4] what stays open is told when somebody ends the session', async () => {
  await using hub = await open()
  const [session, token] = [await hub.bySession(), await hub.byToken()]
  await hub.admin.endSession({ session: hub.id })
  assert.deepEqual([await session.findEnd(), await token.findEnd()], ['session_ended', undefined])
})

test('[SES-6] what stays open puts off no end', async () => {
  await using hub = await open()
  const session = await hub.bySession()
  for (let minutes = 0; minutes < 29; minutes += 1) {
    hub.clock.pass(MINUTE_MS)
    assert.equal(await session.findEnd(), undefined)
  }
  hub.clock.pass(MINUTE_MS)
  assert.equal(await session.findEnd(), 'session_ended')
})
