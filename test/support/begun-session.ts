import assert from 'node:assert/strict'
import { createStartSession } from '../../src/hub/service/admin/sessions/start-session.ts'
import type { Store } from '../../src/hub/store/store.ts'
import type { Clock } from '../../src/platform/clock.ts'

/** Signs in with an admin token, where nobody asks for the halves; the id of the session. */
export async function beginSession(store: Store, clock: Clock, token: string): Promise<string> {
  const begun = await createStartSession(store, clock)(token, false, '192.0.2.7')
  assert.ok('view' in begun)
  return begun.view.id
}
