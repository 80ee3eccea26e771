// A call, or several, of each method that `summarizeFleet` asks the store by, as reader-calls.ts has the others.

import { ROOTS_PARTS, type SummaryReader } from '../../src/hub/store/summary-store.ts'
import type { AgentId } from '../../src/protocol/identifiers.ts'
import { FILLED_AT, ORDINARY } from './filled-tables.ts'
import type { PortCall, PortCalls } from './reader-calls.ts'

const NOW = FILLED_AT
const RULE = { now: NOW, thresholdMs: 1000 }
const UNTIL = new Date(NOW.getTime() + 604_800_000)
const LOST_BEFORE = { firstEnd: new Date(8_999_900), id: '' as AgentId }

export const SUMMARY_CALLS: PortCalls<keyof SummaryReader> = {
  countEnds: [(w) => w.summary.countEnds(RULE, { until: UNTIL })],
  listExpired: [
    (w) => w.summary.listExpired(NOW, 5),
    (w) => w.summary.listExpired(new Date(9_000_000), 5),
  ],
  listLateInTime: [
    (w) => w.summary.listLateInTime(RULE, 5),
    (w) => w.summary.listLateInTime({ ...RULE, now: new Date(8_999_900) }, 5),
  ],
  countAgentsEnding: [
    (w) => w.summary.countAgentsEnding(NOW),
    (w) => w.summary.countAgentsEnding(UNTIL),
  ],
  listLost: [
    (w) => w.summary.listLost(NOW, { after: undefined, limit: 5 }),
    (w) => w.summary.listLost(NOW, { after: LOST_BEFORE, limit: 5 }),
  ],
  findFirstOnTime: [(w) => w.summary.findFirstOnTime(RULE)],
  countOnTimeEnding: [(w) => w.summary.countOnTimeEnding(RULE, [NOW, UNTIL])],
  groupFailures: [(w) => w.summary.groupFailures(10)],
  countCargoes: [(w) => w.summary.countCargoes()],
  countOpenTokens: [(w) => w.summary.countOpenTokens(NOW, 1000)],
  listTrustCounts: [(w) => w.summary.listTrustCounts(10)],
  countStandingRoots: ROOTS_PARTS.flatMap((part) =>
    [undefined, { place: 1, seq: 100 }].map(
      (after): PortCall =>
        (w) =>
          w.summary.countStandingRoots({ part, now: NOW, after, limit: 10 }),
    ),
  ),
  listTrustBeside: [undefined, 1].map(
    (number) => (w) => w.summary.listTrustBeside({ adopted: [], number, after: 100, limit: 10 }),
  ),
  listSilent: [
    (w) => w.summary.listSilent({ limit: 10 }),
    (w) => w.summary.listSilent({ after: ORDINARY.agentId, limit: 10 }),
  ],
}
