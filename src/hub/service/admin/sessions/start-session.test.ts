import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOW } from '../../../../../test/store/store-samples.ts'
import { createSettableClock } from '../../../../../test/support/settable-clock.ts'
import { openTemporaryStore } from '../../../../../test/support/temporary-store.ts'
import { openAdmin } from '../../../../../test/support/told-admin.ts'
import { createStartSession } from './start-session.ts'

test('[SES-13] who was let in by a code or a token that is none when the session is written begins none', async () => {
  await using store = await openTemporaryStore()
  const clock = createSettableClock(NOW)
  const { admin } = openAdmin(store, { clock })
  const { token } = await admin.createAccessToken({ name: 'ana', role: 'viewer' })
  const startSession = createStartSession(store, clock)
  const startBy = async (credential: string, isByCode: boolean) => {
    const started = await startSession(credential, isByCode, '192.0.2.7')
    return 'refusal' in started ? started.refusal : 'begun'
  }
  const [used, late, kept] = [
    await admin.createSignInLink({ name: 'ana' }),
    await admin.createSignInLink({ name: 'ana', valid_seconds: 60 }),
    await admin.createSignInLink({ name: 'ana' }),
  ]
  assert.equal(await startBy(used.code, true), 'begun')
  assert.equal(await startBy(used.code, true), 'sign_in_code_used')
  clock.pass(60_000)
  assert.equal(await startBy(late.code, true), 'sign_in_code_expired')
  assert.equal(await startBy(token, false), 'begun')
  await admin.revokeAccessToken({ token: 'ana' })
  assert.equal(await startBy(kept.code, true), 'admin_token_invalid')
  assert.equal(await startBy(token, false), 'admin_token_invalid')
  assert.equal((await store.reader.sessions.list()).length, 2)
})
