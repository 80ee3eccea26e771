import { UserError } from '../../src/platform/errors.ts'
import { systemClock } from '../../src/platform/clock.ts'

const DEADLINE_MS = 30_000
const INTERVAL_MS = 50

/** Asks again and again until there is an answer; says what it waited for when there is none in time. */
export async function waitUntil<T>(
  what: string,
  ask: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  const deadlineMs = systemClock.now().getTime() + DEADLINE_MS
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    if (systemClock.now().getTime() > deadlineMs) {
      throw new UserError('demo', `waited ${DEADLINE_MS / 1000} s in vain for ${what}`)
    }
    await systemClock.sleep(INTERVAL_MS)
  }
}
