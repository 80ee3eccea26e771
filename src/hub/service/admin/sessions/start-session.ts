// A session begins: for a good admin token, or for a code that nobody used yet. docs/protocol.md SES-2.

import { randomBytes } from 'node:crypto'
import type { Clock } from '../../../../platform/clock.ts'
import type { AdminSession } from '../../../../protocol/admin/sessions.ts'
import {
  SESSION_COOKIE_PREFIX,
  SESSION_SECRET_PREFIX,
} from '../../../../protocol/admin/sessions.ts'
import type { WireErrorCode } from '../../../../protocol/errors.ts'
import { HubEventType } from '../../../../protocol/words.ts'
import { type AccessToken, holderOf, isGood } from '../../../domain/access-token.ts'
import { hashToken } from '../../../domain/hash-token.ts'
import { decideSessionRoom, type Session, sessionEnd } from '../../../domain/session.ts'
import type { Store, StoreReader, StoreWriter } from '../../../store/store.ts'
import { type AdminAct, entriesOfActs } from '../../admin-act.ts'
import { appendEntries } from '../../append-entries.ts'
import { findAccessToken, findTokenByHash } from '../find-access-token.ts'
import { findTokensOf } from './find-tokens-of.ts'
import { describeSession, toAdminSession } from './session-view.ts'

export interface BegunSession {
  /** The half for the cookie. */
  readonly cookie: string
  /** The half for the page. */
  readonly secret: string
  readonly view: AdminSession
}

export interface Starter {
  readonly token: AccessToken
  /** By a code, not by the token itself. */
  readonly isByCode: boolean
}

/** A refusal of somebody who has the code says whose it is. */
export type FoundStarter =
  | Starter
  | { readonly refusal: WireErrorCode; readonly token: AccessToken | undefined }

const HALF_BYTES = 32

export async function findStarterByCode(
  reader: StoreReader,
  plaintext: string,
  now: Date,
): Promise<FoundStarter> {
  const code = await reader.sessions.findCode(hashToken(plaintext))
  const token = code && (await findTokenByHash(reader, code.tokenHash))
  // Of a token that has ended a code says nothing, nor whose it was.
  if (code === undefined || token === undefined || !isGood(token, now)) {
    return { refusal: 'admin_token_invalid', token: undefined }
  }
  if (code.usedAt !== null) return { refusal: 'sign_in_code_used', token }
  if (code.expiresAt <= now) return { refusal: 'sign_in_code_expired', token }
  return { token, isByCode: true }
}

export type StartSession = (
  /** As it came along: a token or a code. */
  credential: string,
  isByCode: boolean,
  address: string,
) => Promise<BegunSession | Extract<FoundStarter, { refusal: unknown }>>

export function createStartSession(store: Store, clock: Clock): StartSession {
  return async (credential, isByCode, address) => {
    const cookie = newHalf(SESSION_COOKIE_PREFIX)
    const secret = newHalf(SESSION_SECRET_PREFIX)
    const now = clock.now()
    return store.write(async (writer) => {
      // Looked at before, and again here: of two that come with one code, one begins a session.
      const found = await findStarter(writer, credential, isByCode, now)
      if ('refusal' in found) return found
      const { token } = found
      const session: Session = {
        cookieHash: hashToken(cookie),
        secretHash: hashToken(secret),
        tokenHash: token.hash,
        address,
        startedAt: now,
        lastUsedAt: now,
        endsAt: sessionEnd(now, token.expiresAt),
        endedAt: null,
      }
      if (isByCode) await writer.sessions.setCodeUsed(hashToken(credential), now)
      const ended = await makeRoom(writer, token, now)
      await writer.sessions.insert(session)
      const act = {
        ...describeSession(session, token),
        by: isByCode ? (token.person === null ? 'sign_in_code' : 'oidc') : 'admin_token',
        ends_at: session.endsAt.toISOString(),
      }
      const acts = [{ type: HubEventType.sessionStarted, payload: act }]
      await appendEntries(writer, [
        ...entriesOfActs(ended, now, 'hub'),
        ...entriesOfActs(acts, now, `token:${token.name}`),
      ])
      return { cookie, secret, view: toAdminSession(session, token) }
    })
  }
}

async function findStarter(
  reader: StoreReader,
  credential: string,
  isByCode: boolean,
  now: Date,
): Promise<FoundStarter> {
  if (isByCode) return findStarterByCode(reader, credential, now)
  const token = await findAccessToken(reader, credential)
  return token !== undefined && isGood(token, now)
    ? { token, isByCode }
    : { refusal: 'admin_token_invalid', token: undefined }
}

async function makeRoom(
  writer: StoreWriter,
  token: AccessToken,
  now: Date,
): Promise<readonly AdminAct[]> {
  const all = await findTokensOf(writer, await writer.sessions.list())
  const { ending, leaving } = decideSessionRoom(all, holderOf(token), now)
  for (const { session } of ending) await writer.sessions.setEnded(session.cookieHash, now)
  for (const { cookieHash } of leaving) await writer.sessions.remove(cookieHash)
  return ending.map((known): AdminAct => {
    const payload = { ...describeSession(known.session, known.token), reason: 'too_many' }
    return { type: HubEventType.sessionEnded, payload }
  })
}

function newHalf(prefix: string): string {
  return `${prefix}${randomBytes(HALF_BYTES).toString('base64url')}`
}
