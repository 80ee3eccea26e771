import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decideAnnouncedUpdate, type UpdateFacts } from './decide-announced-update.ts'
import type { UpdateFailure } from './update-request.ts'

const ROLLOUT = '0123456789abcdef'
const MINUTE_MS = 60_000
const FACTS: UpdateFacts = {
  announced: { version: '0.5.0', rollout: ROLLOUT },
  ownVersion: '0.4.0',
  isPermitted: true,
  isOnTrial: false,
  attempts: 0,
  sinceAskedMs: undefined,
  sinceLookMs: 0,
  outcome: undefined,
  whyNotAgain: undefined,
  isGivenUp: false,
}

const decide = (changes: Partial<UpdateFacts>) => decideAnnouncedUpdate({ ...FACTS, ...changes })
const minutesAgo = (minutes: number): Partial<UpdateFacts> => ({
  sinceAskedMs: minutes * MINUTE_MS,
})
const announce = (version: string): Pick<UpdateFacts, 'announced'> => ({
  announced: { version, rollout: ROLLOUT },
})
const ended = (failure: UpdateFailure | undefined, attempts = 1): Partial<UpdateFacts> => ({
  attempts,
  ...minutesAgo(1),
  outcome: { version: '0.5.0', rollout: ROLLOUT, attempt: attempts, failure },
})

describe('[RLO-38] an announced update', () => {
  test('that is newer is asked for', () => {
    assert.deepEqual(decide({}), { next: 'ask' })
  })

  test('that runs is reported, when it has proved itself', () => {
    assert.deepEqual(decide({ ownVersion: '0.5.0', isOnTrial: true }), { next: 'wait' })
    const verdict = decide({ ownVersion: '0.5.0', isPermitted: false, attempts: 1 })
    assert.deepEqual(verdict, { next: 'report', report: 'updated' })
  })

  for (const [what, changes, why] of [
    ['older than what runs', announce('0.3.9'), /0\.3\.9 is older than 0\.4\.0, which this host/],
    ['older by number', { ...announce('0.9.0'), ownVersion: '0.10.0' }, /older than 0\.10\.0/],
    ['a path', announce('../../etc/cron.d/x'), /"\.\.\/\.\.\/etc\/cron\.d\/x" is not a version/],
    ['a version with a path', announce('0.5.0/../../evil'), /is not a version/],
    ['no version', announce('latest'), /is not a version/],
    ['two lines', announce('0.5.0\n0.6.0'), /"0\.5\.0\\n0\.6\.0" is not a version/],
    ['for a host that follows none', { isPermitted: false }, /SVC_AGENT_UPDATE_URL is not set/],
    ['for what is no release', { ownVersion: 'dev' }, /this agent is no release/],
  ] as const) {
    test(`that is ${what} is declined, whatever else there is`, () => {
      for (const more of [{}, { isOnTrial: false, attempts: 2 }]) {
        const verdict = decide({ ...changes, ...more })
        assert.ok(verdict.next === 'report' && verdict.report === 'declined')
        assert.match(verdict.why, why)
      }
    })
  }

  test('waits while any new version is on trial', () => {
    assert.deepEqual(decide({ isOnTrial: true }), { next: 'wait' })
    assert.deepEqual(decide({ ...ended(undefined), isOnTrial: true }), { next: 'wait' })
  })

  test('that was installed and does not run has failed', () => {
    const verdict = decide(ended(undefined))
    assert.ok(verdict.next === 'report' && verdict.report === 'failed')
    assert.match(verdict.why, /0\.5\.0 was installed, and version 0\.4\.0 runs: it was taken back/)
  })

  test('that is refused has failed at once, with the reason', () => {
    const failure = { code: 'signature_invalid', message: 'signature does NOT match' }
    assert.deepEqual(decide(ended(failure)), {
      next: 'report',
      report: 'failed',
      why: 'signature does NOT match (signature_invalid)',
    })
  })

  test('that could not be fetched is asked for twice more, minutes apart', () => {
    const failure = { code: 'download_failed', message: 'cannot fetch it' }
    assert.deepEqual(decide(ended(failure)), { next: 'wait' })
    assert.deepEqual(decide({ ...ended(failure), ...minutesAgo(3) }), { next: 'ask' })
    assert.deepEqual(decide({ ...ended(failure, 2), ...minutesAgo(3) }), { next: 'ask' })
    const last = decide({ ...ended(failure, 3), ...minutesAgo(3) })
    assert.ok(last.next === 'report' && last.report === 'failed')
  })

  test('that nobody answers has failed in the end; a process that was started again asks once more', () => {
    assert.deepEqual(decide({ attempts: 1, ...minutesAgo(39) }), { next: 'wait' })
    assert.deepEqual(decide({ attempts: 1 }), { next: 'ask' })
    // The helper may be at the third one.
    assert.deepEqual(decide({ attempts: 3, sinceLookMs: 39 * MINUTE_MS }), { next: 'wait' })
    for (const changes of [
      { attempts: 1, ...minutesAgo(41) },
      { attempts: 3, sinceLookMs: 40 * MINUTE_MS },
    ]) {
      const verdict = decide(changes)
      assert.ok(verdict.next === 'report' && verdict.report === 'failed')
      assert.match(verdict.why, /svc-agent-announced\.path/)
    }
  })

  test('is asked for minutes after any other, whatever rollout that was of', () => {
    assert.deepEqual(decide(minutesAgo(2)), { next: 'wait' })
    assert.deepEqual(decide(minutesAgo(3)), { next: 'ask' })
  })

  test('that another rollout had tried has failed, and is not tried when the day is over', () => {
    const why = 'version 0.5.0 failed on this host'
    for (const attempts of [0, 1]) {
      const verdict = decide({ attempts, whyNotAgain: why })
      assert.deepEqual(verdict, { next: 'report', report: 'failed', why })
    }
    assert.deepEqual(decide({ isGivenUp: true }), { next: 'wait' })
    const verdict = decide({ isGivenUp: true, ownVersion: '0.5.0' })
    assert.deepEqual(verdict, { next: 'report', report: 'updated' })
  })
})
