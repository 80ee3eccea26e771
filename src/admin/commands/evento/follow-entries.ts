// New entries as they come: the hub's stream of changes rings, and what is new is asked for. A hub without one is asked each second.
// docs/protocol.md CLI-13.

import { describeError, SvcError } from '../../../platform/errors.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import { HubBusy } from '../../doors/hub-busy.ts'
import type { OpenChanges, Ring } from '../../doors/hub-changes.ts'
import type { CommandContext } from '../command-context.ts'
import type { EntryPrinter } from './print-entries.ts'
import { type EntryQuery, readEntryPages } from './read-entries.ts'

export interface Followed {
  readonly operations: Pick<AdminOperations, 'listEntries'>
  readonly openChanges: OpenChanges | undefined
  readonly query: EntryQuery
  readonly printer: EntryPrinter
  /** The `seq` up to which all is printed. */
  readonly after: number
}

export type FollowContext = Pick<CommandContext, 'clock' | 'note' | 'untilEnded'> & {
  readonly output: Pick<CommandContext['output'], 'isClosed'>
}

const ASK_EVERY_MS = 1000
const AGAIN_MS = { first: 500, most: 5000 }

/** Of a hub that was there before, and may be again. */
const AWAY: ReadonlySet<string> = new Set([
  'hub_unreachable',
  'hub_timeout',
  'hub_connection_broke',
  // What stands before a hub that starts again may answer for it.
  'not_a_hub',
])

/** Ends when somebody ends svc, or when nobody reads what it prints. Throws what does not pass by itself. */
export async function followEntries(context: FollowContext, followed: Followed): Promise<void> {
  const ending = new AbortController()
  void context.untilEnded().then(() => ending.abort())
  const follower = createFollower(context, followed)
  let waitMs = AGAIN_MS.first
  let isAway = false
  const isBack = (): void => {
    waitMs = AGAIN_MS.first
    if (isAway) context.note('the hub is back')
    isAway = false
  }
  while (!ending.signal.aborted && !context.output.isClosed) {
    try {
      await follower.follow(ending.signal, isBack)
    } catch (error) {
      if (ending.signal.aborted) return
      if (!isPassing(error)) throw error
      if (!isAway) context.note(`the hub is away, svc waits for it: ${describeError(error)}`)
      isAway = true
      await sleep(context, waitMs, ending.signal)
      waitMs = Math.min(AGAIN_MS.most, waitMs * 2)
    }
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof HubBusy || (error instanceof SvcError && AWAY.has(error.code))
}

interface Follower {
  /** Until the connection is lost, which throws. */
  follow(signal: AbortSignal, onAnswer: () => void): Promise<void>
}

function createFollower(
  { output, clock, note }: FollowContext,
  { operations, openChanges, query, printer, after }: Followed,
): Follower {
  /** All up to here is printed, or does not match. */
  let place = after
  const printNew = async (): Promise<void> => {
    for await (const page of readEntryPages(operations, query, { after: place })) {
      await printer.print(page)
      place = page.at(-1)?.seq ?? place
      if (output.isClosed) return
    }
  }
  const wanted = query.tipos ?? (query.tipo === undefined ? undefined : [query.tipo])
  const hear = async (ring: Ring): Promise<void> => {
    if (ring.kind === 'reset') {
      note(
        `the log of the hub ends at ${ring.seq}, before ${place}: it is another log, or that of a backup`,
      )
      place = ring.seq
      return
    }
    if (ring.seq <= place) return
    const isWanted = ring.tipo === undefined || (wanted?.includes(ring.tipo) ?? true)
    if (isWanted) await printNew()
    // What matches up to there is printed: the hub rings after the commit.
    place = Math.max(place, ring.seq)
  }
  const ask = async (signal: AbortSignal, onAnswer: () => void): Promise<void> => {
    while (!signal.aborted && !output.isClosed) {
      await printNew()
      onAnswer()
      await sleep({ clock }, ASK_EVERY_MS, signal)
    }
  }
  return {
    follow: async (signal, onAnswer) => {
      const rings = await openChanges?.(place, signal)
      if (rings === undefined) return ask(signal, onAnswer)
      onAnswer()
      for await (const ring of rings) {
        await hear(ring)
        if (output.isClosed) return
      }
    },
  }
}

async function sleep(
  { clock }: Pick<FollowContext, 'clock'>,
  durationMs: number,
  signal: AbortSignal,
): Promise<void> {
  await clock.sleep(durationMs, signal).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
}
