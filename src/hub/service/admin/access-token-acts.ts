// Admin tokens made and ended, and what the log says of that. docs/protocol.md API-5.

import { randomBytes } from 'node:crypto'
import { ACCESS_TOKEN_PREFIX } from '../../../protocol/admin/admin-tokens.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { AccessToken } from '../../domain/access-token.ts'
import { hashBoundedToken, hashToken } from '../../domain/hash-token.ts'
import type { StoreWriter } from '../../store/store.ts'
import type { AdminAct } from '../admin-act.ts'

const TOKEN_BYTES = 32
const ID_LENGTH = 16

/** Whose it is, what for, and until when. */
type NewAccessToken = Omit<AccessToken, 'hash' | 'lastUsedAt' | 'revokedAt' | 'endedAt'>

/** With its text, of which the hub keeps the hash. */
export function makeAccessToken<Made extends NewAccessToken>(
  made: Made,
): { readonly token: Made & AccessToken; readonly plaintext: string } {
  const plaintext = `${ACCESS_TOKEN_PREFIX}${randomBytes(TOKEN_BYTES).toString('base64url')}`
  const hash = made.only === null ? hashToken(plaintext) : hashBoundedToken(plaintext)
  return {
    token: { ...made, hash, lastUsedAt: null, revokedAt: null, endedAt: null },
    plaintext,
  }
}

/** Enough of a token's hash to name it; nothing that opens a door. */
export function accessTokenIdOf({ hash }: AccessToken): string {
  return hash.slice(0, ID_LENGTH)
}

/** `more` is who made it, where that is not the actor. */
export function actOfNewToken(token: AccessToken, more: object = {}): AdminAct {
  const { name, role, only, expiresAt } = token
  const payload = {
    admin_token_id: accessTokenIdOf(token),
    name,
    role,
    expires_at: expiresAt.toISOString(),
    ...(only !== null && { only }),
    ...more,
  }
  return { type: HubEventType.accessTokenCreated, payload }
}

/** `reason` where nobody named them. */
export async function revokeTokens(
  writer: StoreWriter,
  tokens: readonly AccessToken[],
  now: Date,
  reason?: 'rights_changed' | 'signed_out' | 'too_many',
): Promise<readonly AdminAct[]> {
  const acts: AdminAct[] = []
  for (const token of tokens) {
    await writer.updateAccessToken({ ...token, revokedAt: now })
    const payload = {
      admin_token_id: accessTokenIdOf(token),
      name: token.name,
      ...(reason !== undefined && { reason }),
    }
    acts.push({ type: HubEventType.accessTokenRevoked, payload })
  }
  return acts
}
