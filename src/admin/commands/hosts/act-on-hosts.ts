// One act for many hosts: a few at a time, each by its own request, and none stops the others. docs/protocol.md CLI-61.

import type { Clock } from '../../../platform/clock.ts'
import { describeError, SvcError, UserError } from '../../../platform/errors.ts'
import { HubBusy } from '../../doors/hub-busy.ts'

export interface HostFailure {
  readonly host: string
  readonly error: SvcError
}

/** What is told of a host as soon as it is known. */
export interface HostReports<Result> {
  done(host: string, result: Result): Promise<void>
  failed(failure: HostFailure): Promise<void>
  /** How many hosts are over. */
  progress(count: number): void
  /** Nobody reads any more. */
  isClosed(): boolean
}

export interface HostCounts {
  readonly done: number
  readonly failed: number
  /** Why the rest was not tried: what stopped one host would have stopped each. */
  readonly stoppedBy: SvcError | undefined
}

export interface HostPace {
  readonly clock: Clock
  /** So many acts a second at most; undefined leaves it to the hub. */
  readonly perSecond?: number | undefined
  /** Aborted, no host is begun any more, and those under way are ended. */
  readonly ending?: AbortSignal | undefined
}

const WORKERS = 4
const INTERRUPTED = 'interrupted'
const TRIES_MAX = 5
/** The hub cannot be reached: each host would fail so. */
const HUB_AWAY: ReadonlySet<string> = new Set([
  'hub_unreachable',
  'hub_timeout',
  'hub_connection_broke',
])
/** What comes of it cannot be kept: that of each host would be lost so. */
const NOTHING_KEPT: ReadonlySet<string> = new Set(['file_unwritable'])
/** The caller may not: each host would be refused so. */
const CALLER_REFUSED: ReadonlySet<string> = new Set([
  'admin_token_invalid',
  'role_insufficient',
  'token_bounded',
  'not_a_hub',
  'hub_untrusted',
  'hub_too_old',
  'permission_denied',
  'route_not_found',
])

export async function actOnHosts<Host extends { readonly name: string }, Result>(
  hosts: readonly Host[],
  act: (host: Host) => Promise<Result>,
  reports: HostReports<Result>,
  pace: HostPace,
): Promise<HostCounts> {
  const left = hosts.values()
  const counts = { done: 0, failed: 0 }
  let stoppedBy: SvcError | undefined
  const turn = createPace(pace)
  const isOver = (): boolean => {
    if (pace.ending?.aborted) stoppedBy ??= interrupted()
    return stoppedBy !== undefined || reports.isClosed()
  }
  const attempt = async (host: Host): Promise<void> => {
    const outcome = await tryAct(() => act(host), pace)
    if (!(outcome instanceof SvcError)) {
      counts.done += 1
      await reports.done(host.name, outcome)
    } else if (isForAll(outcome)) {
      stoppedBy ??= outcome
    } else {
      counts.failed += 1
      await reports.failed({ host: host.name, error: outcome })
    }
    reports.progress(counts.done + counts.failed)
  }
  const work = async (): Promise<void> => {
    for (const host of left) {
      await turn()
      // Much may have come while it waited for its turn.
      if (isOver()) return
      await attempt(host)
    }
  }
  await Promise.all(Array.from({ length: Math.min(WORKERS, hosts.length) }, work))
  return { ...counts, stoppedBy }
}

/** Waits as a busy hub asks, and a little longer each time for one that is away. A bug ends everything. */
async function tryAct<Result>(
  act: () => Promise<Result>,
  { clock, ending }: HostPace,
): Promise<Result | SvcError> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await act()
    } catch (error) {
      if (!(error instanceof SvcError)) throw error
      const waitMs = error instanceof HubBusy ? error.retryAfterMs : awayMs(error, tries)
      if (waitMs === undefined || tries === TRIES_MAX) return error
      await clock.sleep(waitMs, ending).catch(() => undefined)
      if (ending?.aborted) return interrupted()
    }
  }
}

function interrupted(): UserError {
  return new UserError(INTERRUPTED, 'interrupted')
}

function awayMs(error: SvcError, tries: number): number | undefined {
  return HUB_AWAY.has(error.code) ? 500 * 2 ** tries : undefined
}

function isForAll({ code }: SvcError): boolean {
  const isOfAll = [HUB_AWAY, NOTHING_KEPT, CALLER_REFUSED].some((codes) => codes.has(code))
  return isOfAll || code === INTERRUPTED
}

/** A turn comes at once when all is to end. */
function createPace({ clock, perSecond, ending }: HostPace): () => Promise<void> {
  if (perSecond === undefined) return () => Promise.resolve()
  const gapMs = 1000 / perSecond
  let nextMs = clock.now().getTime()
  return async () => {
    const nowMs = clock.now().getTime()
    const atMs = Math.max(nowMs, nextMs)
    nextMs = atMs + gapMs
    if (atMs > nowMs) await clock.sleep(atMs - nowMs, ending).catch(() => undefined)
  }
}

/** Throws when not every host is done; what it says is the summary. */
export function summarize(total: number, counts: HostCounts, again: string): string {
  const { done, failed, stoppedBy } = counts
  const untried = total - done - failed
  const parts = [`${done} of ${total} ${total === 1 ? 'host' : 'hosts'} done`]
  if (failed > 0) parts.push(`${failed} failed`)
  if (untried > 0) parts.push(`${untried} not tried`)
  const summary = parts.join(', ')
  if (failed === 0 && untried === 0) return summary
  throw new UserError(
    'hosts_left',
    stoppedBy === undefined ? summary : `${summary}: ${describeError(stoppedBy)}`,
    { hint: stoppedBy?.hint === undefined ? again : `${stoppedBy.hint}; then ${again}` },
  )
}
