// Admin tokens: made, listed, revoked. The plaintext is in the answer to the one that made it and nowhere else.

import { randomBytes } from 'node:crypto'
import type { Clock } from '../../../platform/clock.ts'
import { UserError } from '../../../platform/errors.ts'
import type { AdminReplies, AdminRequest } from '../../../protocol/admin/operations.ts'
import {
  ACCESS_TOKEN_PREFIX,
  ACCESS_TOKEN_TTL_DEFAULT_SECONDS,
  type AdminAccessToken,
} from '../../../protocol/admin/admin-tokens.ts'
import { HubEventType } from '../../../protocol/words.ts'
import { isGood, type AccessToken } from '../../domain/access-token.ts'
import type { Actor } from '../../domain/actor.ts'
import type { Store } from '../../store/store.ts'
import { hashToken } from '../hash-token.ts'
import { recordHubAct } from '../hub-acts.ts'

const TOKEN_BYTES = 32
const ID_LENGTH = 16
/** A shorter beginning of an id could be a name. */
const ID_LENGTH_MIN = 8

export async function createAccessToken(
  store: Store,
  clock: Clock,
  request: AdminRequest<'createAccessToken'>,
  actor: Actor,
): Promise<AdminReplies['createAccessToken']> {
  const plaintext = `${ACCESS_TOKEN_PREFIX}${randomBytes(TOKEN_BYTES).toString('base64url')}`
  const now = clock.now()
  const ttlSeconds = request.ttl_seconds ?? ACCESS_TOKEN_TTL_DEFAULT_SECONDS
  const token: AccessToken = {
    hash: hashToken(plaintext),
    name: request.name,
    role: request.role,
    createdAt: now,
    expiresAt: new Date(now.getTime() + ttlSeconds * 1000),
    lastUsedAt: null,
    revokedAt: null,
    endedAt: null,
  }
  return store.write(async (writer) => {
    const tokens = await writer.listAccessTokens()
    if (tokens.some((other) => other.name === token.name && isGood(other, now))) {
      throw new UserError('admin_token_exists', `an admin token named ${token.name} exists`, {
        hint: 'the log names tokens by it: choose another one, or revoke that one first',
      })
    }
    await writer.insertAccessToken(token)
    await recordHubAct(writer, now, HubEventType.accessTokenCreated, {
      actor,
      admin_token_id: idOf(token),
      name: token.name,
      role: token.role,
      expires_at: token.expiresAt.toISOString(),
    })
    return { ...toAdminAccessToken(token), token: plaintext }
  })
}

/** Named by id or, while it is good, by name; revoking twice is no error. */
export async function revokeAccessToken(
  store: Store,
  clock: Clock,
  { token: wanted }: AdminRequest<'revokeAccessToken'>,
  actor: Actor,
): Promise<AdminReplies['revokeAccessToken']> {
  return store.write(async (writer) => {
    const now = clock.now()
    const token = findWanted(await writer.listAccessTokens(), wanted, now)
    if (token.revokedAt !== null) return toAdminAccessToken(token)
    const revoked: AccessToken = { ...token, revokedAt: now }
    await writer.updateAccessToken(revoked)
    await recordHubAct(writer, now, HubEventType.accessTokenRevoked, {
      actor,
      admin_token_id: idOf(token),
      name: token.name,
    })
    return toAdminAccessToken(revoked)
  })
}

export function toAdminAccessToken(token: AccessToken): AdminAccessToken {
  return {
    id: idOf(token),
    name: token.name,
    role: token.role,
    created_at: token.createdAt.toISOString(),
    expires_at: token.expiresAt.toISOString(),
    last_used_at: token.lastUsedAt?.toISOString() ?? null,
    revoked_at: token.revokedAt?.toISOString() ?? null,
  }
}

/** Enough of a token's hash to name it; nothing that opens a door. */
function idOf({ hash }: AccessToken): string {
  return hash.slice(0, ID_LENGTH)
}

function findWanted(tokens: readonly AccessToken[], wanted: string, now: Date): AccessToken {
  const named = tokens.filter((token) => token.name === wanted && isGood(token, now))
  const found =
    named.length > 0 || wanted.length < ID_LENGTH_MIN
      ? named
      : tokens.filter(({ hash }) => hash.startsWith(wanted))
  const [token, ...others] = found
  if (token === undefined) {
    throw new UserError(
      'admin_token_not_found',
      `no admin token ${wanted.startsWith(ACCESS_TOKEN_PREFIX) ? 'by its text' : wanted}`,
      { hint: 'svc admin token list shows ids and names' },
    )
  }
  if (others.length > 0) {
    throw new UserError('admin_token_ambiguous', `${wanted} names more than one admin token`)
  }
  return token
}
