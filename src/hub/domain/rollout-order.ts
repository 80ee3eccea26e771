// In which order hosts come into a rollout: by chance, but by the same chance for everybody who asks, and by another one for the next
// rollout. docs/protocol.md RLO-4.

import { hash } from 'node:crypto'
import type { AgentId, RolloutId } from '../../protocol/identifiers.ts'

/** A host of which nothing was heard for longer comes after all others. */
export const HEARD_LATELY_MS: number = 60 * 60_000

const HEX_DIGITS = 12
const SILENT = 16 ** HEX_DIGITS
/** Every host has a place up to it. */
export const LAST_PLACE: number = 2 * SILENT

/** A whole number, which no two hosts are likely to share. */
export function placeOf(
  rollout: RolloutId,
  agent: AgentId,
  { lastHeardAt, now }: { readonly lastHeardAt: Date | undefined; readonly now: Date },
): number {
  const digits = hash('sha256', `${rollout} ${agent}`).slice(0, HEX_DIGITS)
  const isHeard =
    lastHeardAt !== undefined && now.getTime() - lastHeardAt.getTime() <= HEARD_LATELY_MS
  return Number.parseInt(digits, 16) + (isHeard ? 0 : SILENT)
}

/** The place of the last host of a wave that takes so many more of these. */
export function thresholdOf(places: readonly number[], count: number): number {
  if (count <= 0) return 0
  const ordered = Float64Array.from(places).sort()
  return ordered[Math.min(count, ordered.length) - 1] ?? 0
}
