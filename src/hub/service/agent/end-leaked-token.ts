// A token in a URL is in the logs of proxies, in histories, in the Referer of other requests: it is no longer a secret.

import type { Clock } from '../../../platform/clock.ts'
import { describeError } from '../../../platform/errors.ts'
import type { Logger } from '../../../platform/logger.ts'
import { ACCESS_TOKEN_PREFIX } from '../../../protocol/admin/admin-tokens.ts'
import { JOIN_TOKEN_PREFIX } from '../../../protocol/admin/join-rules.ts'
import type { TokenHash } from '../../../protocol/identifiers.ts'
import { HubEventType } from '../../../protocol/words.ts'
import { isGood } from '../../domain/access-token.ts'
import { endToken, isOpen } from '../../domain/enrollment-token.ts'
import { isRuleInForce } from '../../domain/join-rule.ts'
import { findTokenInUrl } from '../../domain/find-token-in-url.ts'
import type { Store, StoreReader, StoreWriter } from '../../store/store.ts'
import { hashBoundedToken, hashToken } from '../../domain/hash-token.ts'
import { recordHubAct } from '../hub-acts.ts'

/** Where a URL came in. */
export interface UrlOrigin {
  readonly port: string
  readonly address: string
}

export interface LeakedTokens {
  /**
   * Ends the token that is in the URL, if one is, before it resolves; undefined where there is nothing to wait for. A
   * guess costs a look-up or two: only a token that still opens something costs a write, once.
   */
  endTokenIn(url: string, origin: UrlOrigin): Promise<void> | undefined
}

/** docs/protocol.md TOK-10. */
export function createLeakedTokens(store: Store, clock: Clock, log: Logger): LeakedTokens {
  const ending = new Map<TokenHash, Promise<void>>()
  const end = async (hash: TokenHash, kind: TokenKind, origin: UrlOrigin): Promise<void> => {
    if (!(await kind.stillOpens(store.reader, hash, clock.now()))) return
    const isEnded = await store.write(async (writer) => {
      const now = clock.now()
      if (!(await kind.stillOpens(writer, hash, now))) return false
      await kind.end(writer, hash, now, origin)
      return true
    })
    if (isEnded) log.warn({ token_id: idOf(hash), ...origin }, 'Token ended, it was in a URL')
  }
  const endOnce = (hash: TokenHash, kind: TokenKind, origin: UrlOrigin): Promise<void> => {
    const known = ending.get(hash)
    if (known !== undefined) return known
    const work = end(hash, kind, origin)
      .catch((error: unknown) => {
        // The request is answered as it would have been; the next one with the token tries again.
        const fields = { token_id: idOf(hash), reason: describeError(error) }
        log.error(fields, 'Token in a URL not ended')
      })
      .finally(() => ending.delete(hash))
    ending.set(hash, work)
    return work
  }
  return {
    endTokenIn: (url, origin) => {
      const token = findTokenInUrl(url)
      if (token === undefined) return undefined
      if (!token.startsWith(ACCESS_TOKEN_PREFIX)) {
        const kind = token.startsWith(JOIN_TOKEN_PREFIX) ? joinToken : enrollmentToken
        return endOnce(hashToken(token), kind, origin)
      }
      const hashes = [hashToken(token), hashBoundedToken(token)]
      return Promise.all(hashes.map((hash) => endOnce(hash, accessToken, origin))).then(
        () => undefined,
      )
    },
  }
}

interface TokenKind {
  stillOpens(reader: StoreReader, hash: TokenHash, now: Date): Promise<boolean>
  end(writer: StoreWriter, hash: TokenHash, now: Date, origin: UrlOrigin): Promise<void>
}

const REASON = 'in_url'

const enrollmentToken: TokenKind = {
  stillOpens: async (reader, hash, now) => {
    const token = await reader.findToken(hash)
    return token !== undefined && isOpen(token, now)
  },
  end: async (writer, hash, now, origin) => {
    const token = await writer.findToken(hash)
    if (token === undefined) return
    await writer.updateToken(endToken(token, now))
    await recordHubAct(writer, now, HubEventType.tokenRevoked, {
      actor: 'hub',
      token_id: idOf(hash),
      hostname: token.expectedHostname,
      reason: REASON,
      ...origin,
    })
  },
}

/** It ends its rule, for everybody: nobody knows who has it now. */
const joinToken: TokenKind = {
  stillOpens: async (reader, hash, now) => {
    const rule = await reader.findJoinRuleByToken(hash)
    return rule !== undefined && isRuleInForce(rule, now)
  },
  end: async (writer, hash, now, origin) => {
    const rule = await writer.findJoinRuleByToken(hash)
    if (rule === undefined) return
    await writer.updateJoinRule({ ...rule, endedAt: now })
    await recordHubAct(writer, now, HubEventType.joinRuleEnded, {
      actor: 'hub',
      join_rule_id: rule.id,
      join_rule: rule.name,
      hosts: rule.hosts,
      reason: REASON,
      ...origin,
    })
  },
}

const accessToken: TokenKind = {
  stillOpens: async (reader, hash, now) => {
    const token = await reader.findAccessToken(hash)
    return token !== undefined && isGood(token, now)
  },
  end: async (writer, hash, now, origin) => {
    const token = await writer.findAccessToken(hash)
    if (token === undefined) return
    await writer.updateAccessToken({ ...token, revokedAt: now })
    await recordHubAct(writer, now, HubEventType.accessTokenRevoked, {
      actor: 'hub',
      admin_token_id: idOf(hash),
      name: token.name,
      reason: REASON,
      ...origin,
    })
  },
}

/** As `svc token list` and `svc admin token list` show it. */
function idOf(hash: TokenHash): string {
  return hash.slice(0, 16)
}
