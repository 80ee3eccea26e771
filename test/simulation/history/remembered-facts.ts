// What of the log a restore must not forget: docs/protocol.md BKP-15, BKP-19.

import { demand } from './demand.ts'
import type { TokenModel } from './token-model.ts'

export interface RememberedFact {
  readonly seq: number
  readonly kind: 'spent' | 'ended' | 'revoked'
  readonly token?: string
  readonly agentId?: string
}

export class RememberedFacts {
  readonly #facts: RememberedFact[] = []

  add(fact: RememberedFact): void {
    this.#facts.push(fact)
  }

  /** Of the first entries. */
  upTo(entries: number): readonly RememberedFact[] {
    return this.#facts.filter(({ seq }) => seq <= entries)
  }

  beginAgain(): void {
    this.#facts.length = 0
  }
}

/** What was spent is spent, what was ended is ended, and who was revoked last of all stays out. */
export function checkFacts(
  facts: readonly RememberedFact[],
  tokens: TokenModel,
  isRevoked: (agentId: string) => boolean,
): void {
  const isOut = new Map<string, boolean>()
  for (const { kind, token = '', agentId } of facts) {
    if (agentId !== undefined) isOut.set(agentId, kind === 'revoked')
    const isGone = kind !== 'spent' || tokens.isConsumed(token)
    demand(isGone, '[BKP-19] a spent token is open again:', token)
    const isOver = kind !== 'ended' || tokens.isOver(token)
    demand(isOver, '[BKP-19] an ended token is open again:', token)
  }
  for (const [agentId, wasRevoked] of isOut) {
    demand(!wasRevoked || isRevoked(agentId), '[BKP-19] a revoked agent is back:', agentId)
  }
}
