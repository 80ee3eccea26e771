// Tokens as docs/protocol.md TOK and ENR have them: each makes one agent, once, while it is open.

import type { AdminToken } from '../../../src/protocol/admin/views.ts'
import { demand } from './demand.ts'

interface MadeToken {
  readonly hostname: string
  readonly createdAt: string
  readonly expiresAt: string
}

interface TokenFacts extends MadeToken {
  isRevoked: boolean
  /** [TOK-4] Refused as expired, or older than what was recorded since: so it stays. */
  isExpiredForGood: boolean
  consumedFor: string | undefined
  /** It was over once, or is by a receipt, and a restored hub may know that or not. */
  isUncertain: boolean
}

export class TokenModel {
  readonly #tokens = new Map<string, TokenFacts>()
  /** Those that were over before a restore, which may have forgotten that. */
  readonly #overBefore = new Set<string>()

  add(id: string, made: MadeToken): void {
    this.#tokens.set(id, {
      ...made,
      isRevoked: false,
      isExpiredForGood: false,
      consumedFor: undefined,
      isUncertain: this.#overBefore.has(id),
    })
  }

  /** A restored hub is told of it by the enrolment alone, when it was made after the backup. */
  addSpent(id: string, hostname: string): void {
    if (!this.#tokens.has(id)) this.add(id, { hostname, createdAt: '', expiresAt: '' })
  }

  revoke(id: string): void {
    const token = this.#tokens.get(id)
    demand(token?.consumedFor === undefined, '[TOK-8] a consumed token was revoked')
    if (token !== undefined) token.isRevoked = true
  }

  /** [TOK-9] What was there when its host was revoked brings nobody back. */
  revokeOpenOf(hostname: string): void {
    for (const token of this.#openOf(hostname)) token.isRevoked = true
  }

  /** [BKP-17] One of the tokens of that host is spent by that, and the log does not say which. */
  noteTakenBack(hostname: string): void {
    for (const token of this.#openOf(hostname)) token.isUncertain = true
  }

  /** [ENR-11] [ENR-12] [ENR-14] */
  consume(id: string, agentId: string): void {
    const token = this.#tokens.get(id)
    demand(token !== undefined, '[ENR-3] enrolled by an unknown token', id)
    demand(token?.consumedFor === undefined, '[ENR-14] one token, two enrolments:', id)
    demand(token?.isRevoked === false, '[TOK-8] enrolled by a revoked token', id)
    if (token !== undefined) token.consumedFor = agentId
  }

  /** What is written later than a token's making, and not before its end, was written when it had ended. */
  noteTime(timestamp: string): void {
    for (const token of this.#tokens.values()) {
      const isLater = timestamp > token.createdAt
      if (isLater && Date.parse(timestamp) >= Date.parse(token.expiresAt)) {
        token.isExpiredForGood = true
      }
    }
  }

  beginAgain(): void {
    for (const [id, { isExpiredForGood }] of this.#tokens) {
      if (isExpiredForGood) this.#overBefore.add(id)
    }
    this.#tokens.clear()
  }

  has(id: string): boolean {
    return this.#tokens.has(id)
  }

  isConsumed(id: string): boolean {
    return this.#tokens.get(id)?.consumedFor !== undefined
  }

  /** Used, ended, or never heard of. */
  isOver(id: string): boolean {
    const token = this.#tokens.get(id)
    return token === undefined || token.isRevoked || token.consumedFor !== undefined
  }

  /** Whether it is over, or used, nobody but the hub can say. */
  isUncertain(id: string): boolean {
    return this.#tokens.get(id)?.isUncertain === true
  }

  /** By the hub's clock, which may be set back meanwhile. */
  isOpen(id: string, nowMs: number): boolean {
    const token = this.#tokens.get(id)
    return (
      token !== undefined &&
      token.consumedFor === undefined &&
      !token.isRevoked &&
      !token.isExpiredForGood &&
      Date.parse(token.expiresAt) > nowMs
    )
  }

  noteRefusedAsExpired(id: string): void {
    const token = this.#tokens.get(id)
    if (token !== undefined) token.isExpiredForGood = true
  }

  /** [ENR-11] [ENR-12] A token is consumed exactly when it made an agent. */
  check(tokens: readonly AdminToken[]): void {
    demand(tokens.length === this.#tokens.size, '[RES-8] tokens are lost')
    for (const { id, consumed_at: consumedAt } of tokens) {
      if (this.isUncertain(id)) continue
      const isConsumed = this.isConsumed(id)
      const what = isConsumed
        ? 'made an agent and is not consumed'
        : 'is consumed and made no agent'
      demand((consumedAt !== null) === isConsumed, `[ENR-12] a token ${what}:`, id)
    }
  }

  #openOf(hostname: string): TokenFacts[] {
    return [...this.#tokens.values()].filter(
      (token) => token.hostname === hostname && token.consumedFor === undefined,
    )
  }
}
