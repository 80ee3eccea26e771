// Whether one identity is used from two places. Each process of an agent has an id of its own, and one data directory has one
// process at a time: a process that is heard of after its successor runs somewhere else. docs/protocol.md AUT-17.

/** A process of an agent, as the hub hears of it. */
export interface InstanceUse {
  readonly id: string
  readonly firstMs: number
  lastMs: number
  address: string
}

/** What a process that ended has sent may still be on its way. */
export const SUCCESSION_MS = 30_000
const INSTANCES_MAX = 4

/**
 * Notes that an instance was heard of, and answers another one that runs besides: one that came later, was heard of since this
 * one was, and came long enough ago that this one cannot be on its way out.
 */
export function noteInstance(
  uses: InstanceUse[],
  { id, address }: { readonly id: string; readonly address: string },
  nowMs: number,
): InstanceUse | undefined {
  const known = uses.find((use) => use.id === id)
  if (known === undefined) {
    if (uses.length >= INSTANCES_MAX) uses.splice(oldestOf(uses), 1)
    uses.push({ id, firstMs: nowMs, lastMs: nowMs, address })
    return undefined
  }
  // In the order in which they were first heard of: a clock that is set does not change who came later.
  const other =
    uses.length === 1
      ? undefined
      : uses
          .slice(uses.indexOf(known) + 1)
          .find(
            ({ firstMs, lastMs }) =>
              lastMs >= known.lastMs && Math.abs(nowMs - firstMs) >= SUCCESSION_MS,
          )
  known.lastMs = nowMs
  known.address = address
  return other
}

function oldestOf(uses: readonly InstanceUse[]): number {
  const lastMs = Math.min(...uses.map((use) => use.lastMs))
  return uses.findIndex((use) => use.lastMs === lastMs)
}

/** Of a stream that threw out another one, while that one was held. */
export interface StreamSwap {
  readonly from: string
  readonly to: string
  readonly atMs: number
}

/** So often in a row within the window: more than a host does that changes its network. */
const SWAPS = 6
const SWAP_WINDOW_MS = 30 * 60_000

/**
 * Agents up to 0.4.0 name no instance, and neither do two copies of one running machine differ in it: their streams throw each
 * other out, from one address and the other in turn. Notes a swap, and answers whether they do.
 */
export function noteSwap(swaps: StreamSwap[], swap: StreamSwap): boolean {
  const last = swaps.at(-1)
  const isBack = last === undefined || (last.from === swap.to && last.to === swap.from)
  if (swap.from === swap.to || !isBack) swaps.length = 0
  if (swap.from === swap.to) return false
  swaps.push(swap)
  if (swaps.length > SWAPS) swaps.shift()
  const [first] = swaps
  return (
    swaps.length === SWAPS &&
    first !== undefined &&
    Math.abs(swap.atMs - first.atMs) <= SWAP_WINDOW_MS
  )
}
