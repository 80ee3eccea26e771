// How much of a round is still worth trying: a hub that does not answer, or refuses the agent as such, is left alone
// until the next round, while one bad request does not keep the others from being made.

import { describeError } from '../platform/errors.ts'
import { describeRefusal, meaningOfRefusal } from './failures.ts'
import { type HubRefusal, HubUnreachableError } from './hub-request.ts'

const UNANSWERED_MAX = 3

export class HubBudget {
  #unanswered = 0
  #closed = false
  #retryAfterMs = 0
  readonly #problems: string[] = []

  get isOpen(): boolean {
    return !this.#closed && this.#unanswered < UNANSWERED_MAX
  }
  /** Everything that went wrong in this round, hub or not. */
  get problems(): readonly string[] {
    return this.#problems
  }
  /** What the hub asked for, 0 when it did not. */
  get retryAfterMs(): number {
    return this.#retryAfterMs
  }

  noteAnswer(): void {
    this.#unanswered = 0
  }

  noteRefusal(refusal: HubRefusal): void {
    this.noteAnswer()
    this.#addProblem(describeRefusal(refusal))
    this.#retryAfterMs = Math.max(this.#retryAfterMs, refusal.retryAfterMs ?? 0)
    if (meaningOfRefusal(refusal) === 'identity' || refusal.status === 429) this.#closed = true
  }

  noteError(error: unknown): void {
    if (error instanceof HubUnreachableError) this.#unanswered += 1
    this.#addProblem(describeError(error))
  }

  #addProblem(text: string): void {
    if (!this.#problems.includes(text)) this.#problems.push(text)
  }
}
