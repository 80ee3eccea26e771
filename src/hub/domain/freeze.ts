// A time in which no rollout goes on: before a holiday, or during an incident. docs/protocol.md RLO-20.

import type { Actor } from './actor.ts'

export interface Freeze {
  readonly id: number
  readonly until: Date
  readonly why: string
  readonly setBy: Actor
  readonly setAt: Date
  /** When somebody ended it, another one took its place, or the hub saw that its time was over. */
  readonly endedAt: Date | null
}

export function isInForce({ until, endedAt }: Freeze, now: Date): boolean {
  return endedAt === null && now < until
}
