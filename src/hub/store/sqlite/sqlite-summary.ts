import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CertificateInUse } from '../../domain/fleet.ts'
import type { EndCount } from '../../domain/fleet-ends.ts'
import type { LateRule, Page } from '../store.ts'
import type {
  DeliveryFailures,
  EndsWithin,
  LostHosts,
  LostPage,
  RootsPage,
  RootsSlice,
  SilentSlice,
  SummaryReader,
  TrustCount,
  TrustPage,
  TrustSlice,
} from '../summary-store.ts'
import { selectSilent, selectStandingRoots, selectTrustBeside } from './bundle-query.ts'
import {
  selectEndCounts,
  selectExpired,
  selectFirstOnTime,
  selectLateInTime,
  selectLost,
} from './end-counts.ts'
import { countFirstEnds, countLateHosts, lookAtEndingSoon } from './late-hosts.ts'
import type { SqlSession } from './sql-session.ts'
import { countCargoes, countOpenTokens, groupFailures, selectTrustCounts } from './summary-query.ts'

export class SqliteSummaryReader implements SummaryReader {
  readonly #session: () => SqlSession

  constructor(session: () => SqlSession) {
    this.#session = session
  }

  async countEnds(rule: LateRule, within: EndsWithin): Promise<EndCount[]> {
    return selectEndCounts(this.#session(), rule, within)
  }

  async listExpired(now: Date, limit: number): Promise<CertificateInUse[]> {
    return selectExpired(this.#session(), now, limit)
  }

  async listLateInTime(rule: LateRule, limit: number): Promise<CertificateInUse[]> {
    return selectLateInTime(this.#session(), rule, limit)
  }

  async countAgentsEnding(until: Date): Promise<number> {
    return countFirstEnds(this.#session(), until.getTime())
  }

  async listLost(then: Date, page: LostPage): Promise<LostHosts> {
    return selectLost(this.#session(), then, page)
  }

  async findFirstOnTime(rule: LateRule): Promise<CertificateInUse | undefined> {
    return selectFirstOnTime(this.#session(), rule)
  }

  /** Others have a turn between the counts that look at rows. */
  async countOnTimeEnding(rule: LateRule, untils: readonly Date[]): Promise<number[]> {
    const soon = lookAtEndingSoon(this.#session(), rule)
    const late = new Map<number, number>()
    const counts: number[] = []
    for (const untilMs of untils.map((until) => until.getTime())) {
      const lastMs = Math.min(untilMs, soon.untilMs)
      if (!late.has(lastMs)) {
        await nextTurn()
        late.set(lastMs, countLateHosts(this.#session(), rule, soon, lastMs))
      }
      // What is committed in between may take more than there was.
      const onTime = countFirstEnds(this.#session(), untilMs) - (late.get(lastMs) ?? 0)
      counts.push(Math.max(0, onTime))
    }
    return counts
  }

  async groupFailures(limit: number): Promise<DeliveryFailures[]> {
    return groupFailures(this.#session(), limit)
  }

  async countCargoes(): Promise<number> {
    return countCargoes(this.#session())
  }

  async countOpenTokens(now: Date, max: number): Promise<number> {
    return countOpenTokens(this.#session(), now, max)
  }

  async listTrustCounts(limit: number): Promise<TrustCount[]> {
    return selectTrustCounts(this.#session(), limit)
  }

  async countStandingRoots(page: RootsPage): Promise<RootsSlice> {
    return selectStandingRoots(this.#session(), page)
  }

  async listTrustBeside(page: TrustPage): Promise<TrustSlice> {
    return selectTrustBeside(this.#session(), page)
  }

  async listSilent(page: Page): Promise<SilentSlice> {
    return selectSilent(this.#session(), page)
  }
}
