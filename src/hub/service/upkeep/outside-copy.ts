// The newest checkpoint outside the vault, and which one agents are shown: none that is not there too, so that a restore admits all
// that they saw. A place that fails is told of once, and tried again each time; one that does not answer holds nothing up.
// docs/protocol.md CHN-17.

import type { Clock } from '../../../platform/clock.ts'
import { describeError } from '../../../platform/errors.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { LogTree } from '../../domain/log-tree.ts'

/** Agents wait no longer than that for a place that does not answer. */
const ANSWER_MS_MAX = 10_000

export interface OutsideCopyOptions {
  readonly clock: Clock
  readonly log: Logger
  /** Undefined where nobody asked for one. */
  readonly publish?: ((tree: LogTree) => Promise<void>) | undefined
}

export class OutsideCopy {
  readonly #options: OutsideCopyOptions
  #shown: LogTree | undefined
  #kept: LogTree | undefined
  #coveredAt: Date | undefined
  #sinceMs: number | undefined
  #isFailing = false
  #underWay: Promise<void> | undefined

  constructor(options: OutsideCopyOptions) {
    this.#options = options
  }

  /** What agents are shown. */
  get shown(): LogTree | undefined {
    return this.#shown
  }

  /** When what is kept there covered the whole log last. */
  get coveredAt(): Date | undefined {
    return this.#coveredAt
  }

  /** Of the whole log, and signed. Waits for nothing. */
  offer(tree: LogTree): void {
    const { clock, publish } = this.#options
    const now = clock.now()
    if (publish === undefined) this.#shown = tree
    else if (this.#kept === tree) this.#coveredAt = now
    else if (this.#sinceMs === undefined) this.#underWay = this.#keep(publish, tree)
    else if (Math.abs(now.getTime() - this.#sinceMs) > ANSWER_MS_MAX) {
      this.#noteFailure('it does not answer')
      this.#shown = tree
    }
  }

  /** Resolves when agents are shown this one, or one that is newer. */
  async show(tree: LogTree): Promise<void> {
    for (;;) {
      this.offer(tree)
      if ((this.#shown?.frontier.size ?? -1) >= tree.frontier.size) return
      const patience = new AbortController()
      const late = this.#options.clock.sleep(ANSWER_MS_MAX, patience.signal).catch(() => undefined)
      await Promise.race([this.#underWay, late])
      patience.abort()
    }
  }

  /** What is being written there now. */
  get underWay(): Promise<void> | undefined {
    return this.#underWay
  }

  async #keep(publish: (tree: LogTree) => Promise<void>, tree: LogTree): Promise<void> {
    const { clock, log } = this.#options
    this.#sinceMs = clock.now().getTime()
    try {
      await publish(tree)
      if (this.#isFailing) log.info({}, 'Checkpoint kept outside the vault again')
      this.#isFailing = false
      this.#kept = tree
      this.#coveredAt = clock.now()
    } catch (error) {
      this.#noteFailure(describeError(error))
    }
    this.#sinceMs = undefined
    this.#underWay = undefined
    if ((this.#shown?.frontier.size ?? 0) <= tree.frontier.size) this.#shown = tree
  }

  #noteFailure(reason: string): void {
    if (!this.#isFailing) {
      this.#options.log.warn({ reason }, 'Checkpoint not kept outside the vault, tried again')
    }
    this.#isFailing = true
  }
}
