// Admin tokens: made, listed, revoked. The plaintext is in the answer to the one that made it and nowhere else.

import { latestOf } from '../../../platform/instants.ts'
import { type AdminAct, AdminRefusal, type Read, type Write } from '../admin-act.ts'
import {
  ACCESS_TOKEN_PREFIX,
  ACCESS_TOKEN_TTL_DEFAULT_SECONDS,
  type AdminAccessToken,
} from '../../../protocol/admin/admin-tokens.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import { formatSelector } from '../../../protocol/selector.ts'
import { isGood, isSamePerson, type AccessToken } from '../../domain/access-token.ts'
import type { StoreWriter } from '../../store/store.ts'
import { parseDecidingWhere } from '../parse-where.ts'
import { readPage } from '../read-page.ts'
import {
  accessTokenIdOf,
  actOfNewToken,
  makeAccessToken,
  revokeTokens,
} from './access-token-acts.ts'
import type { AdminContext } from './admin-context.ts'

/** A shorter beginning of an id could be a name. */
const ID_LENGTH_MIN = 8

export const createAccessToken: Write<'createAccessToken', Pick<AdminContext, 'clock'>> = async (
  writer,
  request,
  { clock },
) => {
  const now = clock.now()
  const ttlSeconds = request.ttl_seconds ?? ACCESS_TOKEN_TTL_DEFAULT_SECONDS
  const { token, plaintext } = makeAccessToken({
    name: request.name,
    person: null,
    role: request.role,
    only: parseBound(request),
    createdAt: now,
    expiresAt: new Date(now.getTime() + ttlSeconds * 1000),
  })
  return {
    acts: [await keepAccessToken(writer, token)],
    reply: { ...toAdminAccessToken(token), token: plaintext },
  }
}

/** What the log says of it; refuses a name that a good token has. */
export async function keepAccessToken(writer: StoreWriter, token: AccessToken): Promise<AdminAct> {
  const { name, createdAt } = token
  const tokens = await writer.listAccessTokens()
  if (tokens.some((other) => other.name === name && isGood(other, createdAt))) {
    throw new AdminRefusal('admin_token_exists', `an admin token named ${name} exists`)
  }
  await writer.insertAccessToken(token)
  return actOfNewToken(token)
}

/** In its one form. */
function parseBound({ only, role }: AdminRequest<'createAccessToken'>): string | null {
  if (only === undefined) return null
  if (role === 'admin') {
    throw new AdminRefusal(
      'request_invalid',
      'a token of role admin is for all hosts: only has no place',
    )
  }
  return formatSelector(parseDecidingWhere(only, 'only'))
}

export const listAccessTokens: Read<'listAccessTokens'> = async (reader, request) => {
  const sessions = Map.groupBy(await reader.sessions.list(), ({ tokenHash }) => tokenHash)
  const { rows, next } = await readPage(
    request,
    (page) => reader.pageAccessTokens(page),
    (token) => {
      const uses = sessions.get(token.hash)?.map(({ lastUsedAt }) => lastUsedAt) ?? []
      return toAdminAccessToken({
        ...token,
        lastUsedAt: latestOf([token.lastUsedAt, ...uses]) ?? null,
      })
    },
  )
  return { admin_tokens: rows, next }
}

/** Named by id or, while it is good, by name, which is all good tokens of a person, whatever they are called; revoking twice is no error. */
export const revokeAccessToken: Write<'revokeAccessToken', Pick<AdminContext, 'clock'>> = async (
  writer,
  { token: wanted },
  { clock },
) => {
  const now = clock.now()
  const tokens = findWanted(await writer.listAccessTokens(), wanted, now)
  const ending = tokens.filter(({ revokedAt }) => revokedAt === null)
  const acts = await revokeTokens(writer, ending, now)
  const [newest] = tokens
  return { acts, reply: toAdminAccessToken({ ...newest, revokedAt: newest.revokedAt ?? now }) }
}

export function toAdminAccessToken(token: AccessToken): AdminAccessToken {
  return {
    id: accessTokenIdOf(token),
    name: token.name,
    role: token.role,
    created_at: token.createdAt.toISOString(),
    expires_at: token.expiresAt.toISOString(),
    last_used_at: token.lastUsedAt?.toISOString() ?? null,
    revoked_at: token.revokedAt?.toISOString() ?? null,
    only: token.only,
    ...token.person,
  }
}

/** One, or the good tokens of one person, newest first. */
function findWanted(
  tokens: readonly AccessToken[],
  wanted: string,
  now: Date,
): readonly [AccessToken, ...AccessToken[]] {
  const named = tokens.filter((token) => token.name === wanted && isGood(token, now))
  const isNamed = named.length > 0 || wanted.length < ID_LENGTH_MIN
  const found = isNamed ? named : tokens.filter(({ hash }) => hash.startsWith(wanted))
  const [token, ...others] = found
  if (token === undefined) {
    throw new AdminRefusal(
      'admin_token_not_found',
      `no admin token ${wanted.startsWith(ACCESS_TOKEN_PREFIX) ? 'by its text' : wanted}`,
    )
  }
  const { person } = token
  if (isNamed && person !== null) {
    // Whom the provider calls otherwise since then is still the same person.
    const isOf = (each: AccessToken): boolean => each !== token && isSamePerson(each.person, person)
    return [token, ...tokens.filter((each) => isOf(each) && isGood(each, now))]
  }
  if (others.length > 0) {
    throw new AdminRefusal('admin_token_ambiguous', `${wanted} names more than one admin token`)
  }
  return [token]
}
