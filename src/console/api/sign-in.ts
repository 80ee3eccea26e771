// Signing in by an admin token or a link that works once, and out again.

import { ask, reach, readError } from './client.ts'
import { HubError } from './hub-error.ts'
import type { AdminSession, StartedSession } from '../../protocol/admin/sessions.ts'
import {
  enter,
  followOtherTabs,
  leave,
  markLeaving,
  type SignedIn,
  storedHalf,
  storeHalf,
} from './session.ts'

const PATH = '/v1/admin/sessions'
const AGAIN_MS = 2000

/** An admin token, or a code of a link that works once. */
export async function signIn(credential: string): Promise<void> {
  const response = await reach(PATH, {
    method: 'POST',
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
    body: '{}',
  })
  if (!response.ok) throw await readError(response)
  const started = (await response.json()) as StartedSession
  storeHalf(started.secret)
  enter(started.secret, whoOf(started))
}

/** Whether this browser is signed in already, from before. A hub that does not say so leaves the half where it is. */
export async function resume(): Promise<void> {
  const half = storedHalf()
  if (half === undefined) return leave('none')
  try {
    const who = whoOf(await ask('showSession', {}, { half }))
    if (storedHalf() === half) enter(half, who)
  } catch (error) {
    if (!isRefused(error)) throw error
    if (storedHalf() === half) leave('ended', half)
  }
}

/** Who signs in in another tab is in here too, and what was of somebody else is gone. */
export function resumeAsOtherTabs(): void {
  followOtherTabs((stored) => void resumeUntilAnswered(stored))
}

async function resumeUntilAnswered(stored: string): Promise<void> {
  while (storedHalf() === stored) {
    try {
      return await resume()
    } catch {
      // The hub does not answer now: until then this page asks nothing.
      await new Promise((again) => setTimeout(again, AGAIN_MS))
    }
  }
}

/** Throws where the hub did not end it: the session goes on, and somebody has to know. */
export async function signOut(): Promise<void> {
  markLeaving(true)
  try {
    await ask('endSession', {})
  } catch (error) {
    if (!isRefused(error)) {
      markLeaving(false)
      throw error
    }
  }
  leave('left')
}

/** The hub does not know the session, or has ended it. */
function isRefused(error: unknown): boolean {
  return error instanceof HubError && error.status === 401
}

function whoOf({ name, role, only, ends_at: endsAt }: AdminSession): SignedIn {
  return { name, role, only, endsAt }
}
