// Sessions: listed, shown, ended; and codes that begin one. A caller sees those of its own token, role admin all.

import { randomBytes } from 'node:crypto'
import type { AdminRequest } from '../../../../protocol/admin/operations.ts'
import {
  SESSION_TTL_MAX_SECONDS,
  SIGN_IN_CODE_PREFIX,
} from '../../../../protocol/admin/sessions.ts'
import type { AdminRole } from '../../../../protocol/admin/roles.ts'
import { HubEventType } from '../../../../protocol/words.ts'
import { type AccessToken, isGood, isSamePerson } from '../../../domain/access-token.ts'
import { hashToken } from '../../../domain/hash-token.ts'
import { isSessionOpen, type KnownSession, sessionIdOf } from '../../../domain/session.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import {
  type AdminAct,
  type AdminAsker,
  AdminRefusal,
  type Read,
  type Write,
} from '../../admin-act.ts'
import { pageOf, readPage } from '../../read-page.ts'
import { accessTokenIdOf, makeAccessToken } from '../access-token-acts.ts'
import { keepAccessToken } from '../access-tokens.ts'
import type { AdminContext, UseCases } from '../admin-context.ts'
import { findTokenByHash, isReadable } from '../find-access-token.ts'
import { findTokensOf } from './find-tokens-of.ts'
import { describeSession, toAdminSession } from './session-view.ts'

type Context = Pick<AdminContext, 'clock' | 'findConsoleUrl'>

const SECRET_BYTES = 32
const CODE_TTL_DEFAULT_SECONDS = 300
/** So that who comes with it again is told why nothing happens. */
const CODE_KEPT_MS = 86_400_000

type NewToken = AdminRequest<'createSignInLink'> & { readonly role: AdminRole }

const listSessions: Read<'listSessions', Context> = async (reader, request, context) => {
  const { rows, next } = await readPage(
    request,
    async (page) => {
      const open = await listOpen(reader, context)
      return pageOf(
        open.map(({ session, token }) => toAdminSession(session, token)),
        page,
      )
    },
    (session) => session,
  )
  return { sessions: rows, next }
}

const showSession: Read<'showSession', Context> = async (reader, _request, context) => {
  const hash = context.session
  const session = hash && (await reader.sessions.find(hash))
  const token = session && (await findTokenByHash(reader, session.tokenHash))
  if (session === undefined || token === undefined) {
    throw new AdminRefusal('session_not_found', 'no session asks')
  }
  return toAdminSession(session, token)
}

const endSession: Write<'endSession', Context> = async (writer, { session: wanted }, context) => {
  const { session, token } = await findWanted(writer, wanted, context)
  await writer.sessions.setEnded(session.cookieHash, context.clock.now())
  const payload = { ...describeSession(session, token), reason: 'signed_out' }
  return {
    acts: [{ type: HubEventType.sessionEnded, payload }],
    reply: toAdminSession(session, token),
  }
}

const createSignInLink: Write<'createSignInLink', Context> = async (
  writer,
  request,
  { clock, findConsoleUrl },
) => {
  const now = clock.now()
  const { token, acts } =
    request.role === undefined
      ? { token: await findNamed(writer, request, now), acts: [] }
      : await makeToken(writer, { ...request, role: request.role }, now)
  const code = `${SIGN_IN_CODE_PREFIX}${randomBytes(SECRET_BYTES).toString('base64url')}`
  const { valid_seconds: validSeconds = CODE_TTL_DEFAULT_SECONDS } = request
  const endMs = Math.min(now.getTime() + validSeconds * 1000, token.expiresAt.getTime())
  const expiresAt = new Date(endMs)
  await writer.sessions.insertCode(
    { hash: hashToken(code), tokenHash: token.hash, expiresAt, usedAt: null },
    new Date(now.getTime() - CODE_KEPT_MS),
  )
  const { name, role } = token
  const expires_at = expiresAt.toISOString()
  const payload = { admin_token_id: accessTokenIdOf(token), name, role, expires_at }
  return {
    acts: [...acts, { type: HubEventType.signInLinkCreated, payload }],
    reply: {
      code,
      name,
      role,
      expires_at,
      token_expires_at: token.expiresAt.toISOString(),
      url: findConsoleUrl?.() ?? null,
    },
  }
}

export const SESSION_USE_CASES: Pick<
  UseCases,
  'listSessions' | 'showSession' | 'endSession' | 'createSignInLink'
> = { listSessions, showSession, endSession, createSignInLink }

async function listOpen(
  reader: StoreReader,
  { actor, role, clock, token: asking }: Context & AdminAsker,
): Promise<readonly KnownSession[]> {
  const now = clock.now()
  const open = (await reader.sessions.list()).filter((session) => isSessionOpen(session, now))
  const all = await findTokensOf(reader, open)
  const person = asking && (await findTokenByHash(reader, asking))?.person
  return all.filter(({ token }) => {
    if (!isReadable(token) || !isGood(token, now)) return false
    // No two good tokens have one name, but those of one person, which may have others too.
    const isOfPerson = person ? isSamePerson(token.person, person) : false
    return role === 'admin' || isOfPerson || actor === `token:${token.name}`
  })
}

/** The one that asks when none is named. */
async function findWanted(
  reader: StoreReader,
  wanted: string | undefined,
  context: Context & AdminAsker,
): Promise<KnownSession> {
  const begin = wanted ?? context.session
  if (begin === undefined) {
    throw new AdminRefusal('session_not_found', 'no session asks: name one by its id')
  }
  const [found, ...others] = (await listOpen(reader, context)).filter(({ session }) =>
    wanted === undefined ? session.cookieHash === begin : sessionIdOf(session).startsWith(begin),
  )
  if (found === undefined || others.length > 0) {
    throw new AdminRefusal('session_not_found', `no open session ${wanted ?? 'asks'}`)
  }
  return found
}

async function findNamed(
  reader: StoreReader,
  { name, ttl_seconds: ttlSeconds }: AdminRequest<'createSignInLink'>,
  now: Date,
): Promise<AccessToken> {
  if (ttlSeconds !== undefined) {
    throw new AdminRefusal(
      'request_invalid',
      'a token that is there has its end: ttl_seconds needs a role',
    )
  }
  const tokens = await reader.listAccessTokens()
  const token = tokens.find((each) => each.name === name && isGood(each, now))
  if (token !== undefined) return token
  throw new AdminRefusal('admin_token_not_found', `no admin token ${name} is good`)
}

/** Nobody has its text: only sessions are of it, and they end with it. */
async function makeToken(
  writer: StoreWriter,
  { name, role, ttl_seconds: ttlSeconds = SESSION_TTL_MAX_SECONDS }: NewToken,
  now: Date,
): Promise<{ readonly token: AccessToken; readonly acts: readonly AdminAct[] }> {
  const { token } = makeAccessToken({
    name,
    person: null,
    role,
    only: null,
    createdAt: now,
    expiresAt: new Date(now.getTime() + ttlSeconds * 1000),
  })
  return { token, acts: [await keepAccessToken(writer, token)] }
}
