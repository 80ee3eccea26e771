// Who is signed in at the console that svc serves: sessions as the hub's, in two halves, but in the memory of this process alone, and begun by
// a code that only its terminal shows. docs/protocol.md LOC-3, LOC-4.

import { hash, randomBytes } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import {
  type AdminSession,
  SESSION_COOKIE_PREFIX,
  SESSION_IDLE_SECONDS,
  SESSION_SECRET_PREFIX,
  SESSION_TTL_MAX_SECONDS,
  SIGN_IN_CODE_PREFIX,
} from '../../protocol/admin/sessions.ts'
import type { LineHolder } from '../doors/hub-line.ts'

export interface SessionHalves {
  readonly cookie: string
  readonly secret: string
}

export interface BegunSession extends SessionHalves {
  readonly view: AdminSession
}

export type FoundSession = { readonly view: AdminSession } | 'unknown' | 'ended'

export interface LocalSessions {
  /** Good for one session; one that was made before is good no more. */
  makeCode(): string
  begin(code: string, address: string): BegunSession | 'unknown' | 'used'
  /** `isUse` puts off the end of an idle one. */
  find(halves: SessionHalves, isUse: boolean): FoundSession
  end(id: string): void
  /** Ends those that are past their end, which else the next request would find. */
  endStale(): void
  /** Who signs in does so again from then on. */
  endAll(): void
}

interface HeldSession {
  readonly id: string
  readonly cookieHash: string
  readonly secretHash: string
  readonly address: string
  readonly startedAtMs: number
  lastUsedAtMs: number
  isEnded: boolean
}

/** Each wants a code of its own, which the terminal shows; the oldest one gives way. */
const SESSIONS_MAX = 8
const SECRET_BYTES = 32
const ID_CHARACTERS = 12

/** `onEnd` hears of each session that ends, once. */
export function createLocalSessions(
  holder: LineHolder,
  clock: Clock,
  onEnd: (id: string) => void,
): LocalSessions {
  let sessions: readonly HeldSession[] = []
  let codeHash: string | undefined
  const usedCodeHashes = new Set<string>()

  const end = (session: HeldSession): void => {
    if (session.isEnded) return
    session.isEnded = true
    onEnd(session.id)
  }
  const endStale = (): void => {
    const nowMs = clock.now().getTime()
    for (const session of sessions) if (nowMs >= endsAtMs(session)) end(session)
  }
  const viewOf = (session: HeldSession): AdminSession => ({
    ...holder,
    id: session.id,
    address: session.address,
    started_at: toTime(session.startedAtMs),
    last_used_at: toTime(session.lastUsedAtMs),
    idle_ends_at: toTime(session.lastUsedAtMs + SESSION_IDLE_SECONDS * 1000),
    ends_at: toTime(session.startedAtMs + SESSION_TTL_MAX_SECONDS * 1000),
  })
  return {
    makeCode: () => {
      const code = `${SIGN_IN_CODE_PREFIX}${makeSecret()}`
      codeHash = digestOf(code)
      return code
    },
    begin: (code, address) => {
      const given = digestOf(code)
      if (usedCodeHashes.has(given)) return 'used'
      if (given !== codeHash) return 'unknown'
      usedCodeHashes.add(given)
      codeHash = undefined
      const cookie = `${SESSION_COOKIE_PREFIX}${makeSecret()}`
      const secret = `${SESSION_SECRET_PREFIX}${makeSecret()}`
      const nowMs = clock.now().getTime()
      const cookieHash = digestOf(cookie)
      const session: HeldSession = {
        id: cookieHash.slice(0, ID_CHARACTERS),
        cookieHash,
        secretHash: digestOf(secret),
        address,
        startedAtMs: nowMs,
        lastUsedAtMs: nowMs,
        isEnded: false,
      }
      for (const old of sessions.slice(0, -(SESSIONS_MAX - 1))) end(old)
      sessions = [...sessions.slice(-(SESSIONS_MAX - 1)), session]
      return { cookie, secret, view: viewOf(session) }
    },
    find: ({ cookie, secret }, isUse) => {
      endStale()
      const [cookieHash, secretHash] = [digestOf(cookie), digestOf(secret)]
      const session = sessions.find(
        (each) => each.cookieHash === cookieHash && each.secretHash === secretHash,
      )
      if (session === undefined) return 'unknown'
      if (session.isEnded) return 'ended'
      if (isUse) session.lastUsedAtMs = clock.now().getTime()
      return { view: viewOf(session) }
    },
    end: (id) => {
      const session = sessions.find((each) => each.id === id)
      if (session !== undefined) end(session)
    },
    endStale,
    endAll: () => {
      for (const session of sessions) end(session)
    },
  }
}

function endsAtMs({ startedAtMs, lastUsedAtMs }: HeldSession): number {
  return Math.min(
    startedAtMs + SESSION_TTL_MAX_SECONDS * 1000,
    lastUsedAtMs + SESSION_IDLE_SECONDS * 1000,
  )
}

function makeSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

/** What is compared: how long that takes tells nothing of the secret. */
function digestOf(secret: string): string {
  return hash('sha256', secret)
}

function toTime(ms: number): string {
  return new Date(ms).toISOString()
}
