// Signing in by an admin token or a link that works once, and out again.

import { ask, reach, readError } from './client.ts'
import { HubError } from './hub-error.ts'
import { forgetAll } from './query.ts'
import type { AdminSession, StartedSession } from '../../protocol/admin/sessions.ts'
import { enter, hasHalf, leave, type SignedIn } from './session.ts'

const PATH = '/v1/admin/sessions'

/** An admin token, or a code of a link that works once. */
export async function signIn(credential: string): Promise<void> {
  const response = await reach(PATH, {
    method: 'POST',
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
    body: '{}',
  })
  if (!response.ok) throw await readError(response)
  const started = (await response.json()) as StartedSession
  enter(started.secret, whoOf(started))
}

/** Whether this browser is signed in already, from before. */
export async function resume(): Promise<void> {
  if (!hasHalf()) return leave('none')
  try {
    enter(undefined, whoOf(await ask('showSession', {})))
  } catch (error) {
    if (error instanceof HubError && error.status === 401) return leave('ended')
    throw error
  }
}

export async function signOut(): Promise<void> {
  try {
    await ask('endSession', {})
  } catch (error) {
    // One that the hub has ended already is over too.
    if (!(error instanceof HubError)) throw error
  }
  leave('left')
  forgetAll()
}

function whoOf({ name, role, only, ends_at: endsAt }: AdminSession): SignedIn {
  return { name, role, only, endsAt }
}
