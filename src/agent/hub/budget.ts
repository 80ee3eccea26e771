// How much of a round is still worth trying: a hub that does not answer, or refuses the agent as such, is left alone
// until the next round, while one bad request does not keep the others from being made.

import { describeError } from '../../platform/errors.ts'
import { describeRefusal, meaningOfRefusal } from './failures.ts'
import { type HubRefusal, HubUnreachableError } from './request.ts'

const UNANSWERED_MAX = 3

export class HubBudget {
  #unanswered = 0
  #closed = false
  #retryAfterMs = 0
  #hasAnswered = false
  #hasServerError = false
  readonly #refusals = new Set<string>()
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

  /** Requests were made, and none was answered in any way. */
  get isUnreachable(): boolean {
    return this.#unanswered > 0 && !this.#hasAnswered
  }

  /** The hub, or what stands before it, answered 500 or above. */
  get hasServerError(): boolean {
    return this.#hasServerError
  }

  hasRefusal(code: string): boolean {
    return this.#refusals.has(code)
  }

  noteAnswer(): void {
    this.#unanswered = 0
    this.#hasAnswered = true
  }

  /** Nothing more of this round is worth asking the hub for. */
  close(problem: string): void {
    this.#closed = true
    this.noteProblem(problem)
  }

  noteRefusal(refusal: HubRefusal): void {
    this.noteAnswer()
    this.#refusals.add(refusal.code)
    if (refusal.status >= 500) this.#hasServerError = true
    this.noteProblem(describeRefusal(refusal))
    this.#retryAfterMs = Math.max(this.#retryAfterMs, refusal.retryAfterMs ?? 0)
    const isToldToWait = refusal.status === 429 || refusal.retryAfterMs !== undefined
    if (meaningOfRefusal(refusal) === 'identity' || isToldToWait) this.#closed = true
  }

  noteError(error: unknown): void {
    if (error instanceof HubUnreachableError) this.#unanswered += 1
    this.noteProblem(describeError(error))
  }

  noteProblem(text: string): void {
    if (!this.#problems.includes(text)) this.#problems.push(text)
  }
}
