// Refusals of the admin port go into the audit log, but a stranger must not make it grow: for each
// refused caller there is one entry a minute at most, with a count, and the hub tells only so many callers apart.

import type { Clock } from '../../../platform/clock.ts'
import { describeError } from '../../../platform/errors.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { WireErrorCode } from '../../../protocol/errors.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { Person } from '../../domain/access-token.ts'
import type { Actor } from '../../domain/actor.ts'
import type { Store } from '../../store/store.ts'
import { recordHubAct } from '../hub-acts.ts'

export interface AdminRefusal {
  /** Undefined when no good token came along. */
  readonly actor: Actor | undefined
  readonly address: string
  readonly reason: WireErrorCode
  readonly operation?: string | undefined
  /** Somebody whom an OpenID provider signed in, and the hub did not let in. */
  readonly person?: RefusedPerson | undefined
}

export interface RefusedPerson extends Person {
  readonly name?: string | undefined
}

export interface RefusalRecorder {
  record(refusal: AdminRefusal): void
  /** Records what was counted but not yet recorded, now and then and when the signal aborts. */
  run(signal: AbortSignal): Promise<void>
}

const WINDOW_MS = 60_000
const FLUSH_INTERVAL_MS = 5000
const TOLD_APART_MAX = 16
const OTHERS = 'others'

interface Window {
  recordedAtMs: number
  /** The first refusal since then. */
  refusal: AdminRefusal
  count: number
}

export function createRefusalRecorder(store: Store, clock: Clock, log: Logger): RefusalRecorder {
  const windows = new Map<string, Window>()
  const isOver = (window: Window, nowMs: number): boolean =>
    Math.abs(nowMs - window.recordedAtMs) >= WINDOW_MS
  const writing = new Set<Promise<void>>()
  const write = (window: Window): void => {
    const { refusal, count } = window
    const at = clock.now()
    window.recordedAtMs = at.getTime()
    window.count = 0
    const { actor = 'unknown', reason, address, operation, person } = refusal
    const payload = { actor, reason, address, ...(operation && { operation }), ...person, count }
    const written = store
      .write((writer) => recordHubAct(writer, at, HubEventType.adminRefused, payload))
      .catch((error: unknown) =>
        log.warn({ reason: describeError(error) }, 'Refusal on the admin port not recorded'),
      )
      .finally(() => writing.delete(written))
    writing.add(written)
  }
  const flush = (isLast: boolean): void => {
    const nowMs = clock.now().getTime()
    for (const [key, window] of windows) {
      if (!isLast && !isOver(window, nowMs)) continue
      if (window.count > 0) write(window)
      else windows.delete(key)
    }
  }
  return {
    record: (refusal) => {
      const nowMs = clock.now().getTime()
      const isFull = !windows.has(keyOf(refusal)) && windows.size >= TOLD_APART_MAX
      // Never under another actor's name: strangers can fill all the places, but hide no actor and blame no actor.
      const counted = isFull ? { ...refusal, address: OTHERS, person: undefined } : refusal
      const key = keyOf(counted)
      const known = windows.get(key)
      const window = known ?? { recordedAtMs: nowMs, refusal: counted, count: 0 }
      if (window.count === 0) window.refusal = counted
      window.count += 1
      windows.set(key, window)
      if (known === undefined || isOver(window, nowMs)) write(window)
    },
    run: async (signal) => {
      while (!signal.aborted) {
        await clock.sleep(FLUSH_INTERVAL_MS, signal).catch(() => undefined)
        flush(signal.aborted)
      }
      await Promise.all(writing)
    },
  }
}

function keyOf({ actor, address, person }: AdminRefusal): string {
  return `${actor ?? ''} ${address} ${person?.subject ?? ''}`
}
