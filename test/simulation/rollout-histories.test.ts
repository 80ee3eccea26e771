// No wave opens early in 10,000 histories with faults, and where the decision has a fault in it, one does.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decideRollout } from '../../src/hub/domain/decide-rollout.ts'
import type { RolloutCounts } from '../../src/hub/domain/rollout.ts'
import { type Decide, runRolloutHistory } from './rollout-history.ts'

const HISTORIES = 10_000
/** Among so many each planted fault shows itself. */
const FAULTY_HISTORIES_MAX = 200

describe('[RLO-7] [RLO-9] [RLO-12] histories of rollouts', () => {
  test(`no wave opens early in ${HISTORIES} of them`, (context) => {
    const ends = new Map<string, number>()
    let waves = 0
    let freezes = 0
    let faults = 0
    for (let seed = 1; seed <= HISTORIES; seed += 1) {
      const history = runRolloutHistory(seed)
      ends.set(history.end, (ends.get(history.end) ?? 0) + 1)
      waves += history.waves
      freezes += history.freezes
      faults += history.restarts + history.clockJumps
    }
    context.diagnostic(
      `${waves} waves, ${freezes} freezes, ${faults} restarts and clock jumps; ${JSON.stringify([...ends])}`,
    )
    assert.ok(waves > HISTORIES / 2 && freezes > HISTORIES / 10 && faults > HISTORIES)
    assert.ok((ends.get('done') ?? 0) > HISTORIES / 4)
  })

  const seeing =
    (change: (counts: RolloutCounts) => Partial<RolloutCounts>): Decide =>
    (facts) =>
      decideRollout({ ...facts, counts: { ...facts.counts, ...change(facts.counts) } })
  const planted: Readonly<Record<string, readonly [Decide, RegExp]>> = {
    'takes what is pending for done': [
      seeing(({ pending, done }) => ({ pending: 0, done: done + pending })),
      /before its hosts are done/,
    ],
    'waits for no target': [
      seeing(({ unprobed, done }) => ({ unprobed: 0, done: done + unprobed })),
      /before its hosts are done|before it has soaked/,
    ],
    'counts no failure': [
      seeing(({ failed, done }) => ({ failed: 0, done: done + failed })),
      /with \d+ failures/,
    ],
    'takes what failed for declined': [
      seeing(({ failed, declined }) => ({ failed: 0, declined: declined + failed })),
      /with \d+ failures/,
    ],
    'goes on when anybody has declined': [
      seeing(({ declined, done, pending }) =>
        declined > 0 ? { pending: 0, done: done + pending } : {},
      ),
      /before its hosts are done|before it has soaked/,
    ],
    'soaks by two instants': [
      ({ rollout, now, ...facts }) => {
        const soakedMs = now.getTime() - rollout.openedAt.getTime()
        return decideRollout({ ...facts, now, rollout: { ...rollout, soakedMs } })
      },
      /before it has soaked/,
    ],
    'forgets a freeze': [(facts) => decideRollout({ ...facts, freeze: undefined }), /in a freeze/],
  }
  for (const [name, [decide, symptom]] of Object.entries(planted)) {
    test(`a decision that ${name} is found out`, () => {
      assert.throws(() => {
        for (let seed = 1; seed <= FAULTY_HISTORIES_MAX; seed += 1) runRolloutHistory(seed, decide)
      }, symptom)
    })
  }
})
