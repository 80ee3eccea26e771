// How much of the log one agent may fill: docs/protocol.md LIM-40 and LIM-41.

/** What an agent’s events have cost of late, as it was at that time; it is paid back as time goes by. */
export interface EventDebt {
  readonly bytes: number
  /** What of that came from the reserve, which is paid back far more slowly. */
  readonly reserveBytes: number
  readonly at: Date
}

/** What the vault’s file system has left for events: below the floor there is the reserve, then nothing. */
export type EventRoom = 'enough' | 'reserve' | 'none'

export interface EventBudgetFacts {
  readonly debt: EventDebt | undefined
  readonly entryBytes: number
  readonly room: EventRoom
  /** `Number.POSITIVE_INFINITY` when it is lifted; the reserve is shared even then. */
  readonly bytesPerDay: number
  readonly now: Date
}

export type EventBudgetVerdict =
  | { readonly ok: true; readonly debt: EventDebt | undefined }
  | EventOverdraft

export type EventOverdraft =
  | { readonly ok: false; readonly refusal: 'rate_limited'; readonly waitMs: number }
  | { readonly ok: false; readonly refusal: 'unavailable' }

/** What a row, its identifiers, its hashes and its places in four indexes take: 400 to 1,270 bytes, as measured. */
const ENTRY_OVERHEAD_BYTES = 1024
/** A dozen ordinary events: what an agent tells of some days on which nothing but renewals happens. */
const RESERVE_BYTES_PER_DAY = 16 * 1024
const DAY_MS = 86_400_000
/** Clocks are slewed by less; one that was put back further must not hold a debt for as long as it was ahead. */
const SLEW_MS_MAX = 60_000

export function entryBytesOf(payloadText: string): number {
  return Buffer.byteLength(payloadText) + ENTRY_OVERHEAD_BYTES
}

/**
 * An agent that owes less than a day’s worth may send one more event, of any size: so no budget is too small for an event,
 * and no budget is overdrawn by more than one. A debt to the reserve bars no agent from anything else.
 */
export function decideEventBudget(facts: EventBudgetFacts): EventBudgetVerdict {
  const { entryBytes, room, bytesPerDay, now } = facts
  const owed = owedAt(facts)
  if (room === 'none' || (room === 'reserve' && owed.reserveBytes >= RESERVE_BYTES_PER_DAY)) {
    return { ok: false, refusal: 'unavailable' }
  }
  if (owed.bytes >= bytesPerDay) {
    const waitMs = Math.ceil(((owed.bytes - bytesPerDay + 1) / bytesPerDay) * DAY_MS)
    return { ok: false, refusal: 'rate_limited', waitMs }
  }
  if (room === 'enough' && !Number.isFinite(bytesPerDay)) return { ok: true, debt: undefined }
  const fromReserve = room === 'reserve' ? entryBytes : 0
  const bytes = Number.isFinite(bytesPerDay) ? Math.ceil(owed.bytes + entryBytes) : 0
  return {
    ok: true,
    debt: { bytes, reserveBytes: Math.ceil(owed.reserveBytes + fromReserve), at: now },
  }
}

function owedAt({ debt, bytesPerDay, now }: EventBudgetFacts): Omit<EventDebt, 'at'> {
  const elapsedMs = debt === undefined ? 0 : now.getTime() - debt.at.getTime()
  if (debt === undefined || elapsedMs < -SLEW_MS_MAX) return { bytes: 0, reserveBytes: 0 }
  const days = Math.max(0, elapsedMs) / DAY_MS
  return {
    bytes: Number.isFinite(bytesPerDay) ? Math.max(0, debt.bytes - days * bytesPerDay) : 0,
    reserveBytes: Math.max(0, debt.reserveBytes - days * RESERVE_BYTES_PER_DAY),
  }
}
