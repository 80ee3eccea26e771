// A fault that a check of svc doctor is to find, in a scene that is sound but for it.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CHECKS } from '../../src/doctor/checks.ts'
import { exitStatusOf, runChecks } from '../../src/doctor/run-checks.ts'
import { type ChangedFacts, sceneOf } from './sound-scene.ts'

export type Fault = readonly [
  what: string,
  changes: ChangedFacts,
  id: string,
  status: 'warning' | 'error' | 'unknown',
  message: RegExp,
]

/** Each is one finding of its check, which says why it matters and what to do. */
export function testFaults(title: string, faults: readonly Fault[]): void {
  describe(title, () => {
    for (const [what, changes, id, status, message] of faults) {
      test(what, async () => {
        const results = await runChecks(CHECKS, sceneOf(changes))
        const { findings = [] } = results.find((result) => result.id === id) ?? {}
        const found = findings.filter((finding) => finding.status === status)
        assert.equal(found.length, 1, JSON.stringify(findings))
        assert.match(found[0]?.message ?? '', message)
        const exitStatus = exitStatusOf(results)
        assert.ok(status === 'error' ? exitStatus === 2 : exitStatus >= 1)
        for (const { status: each, why, remedy } of results.flatMap((result) => result.findings)) {
          if (each === 'warning' || each === 'error') assert.ok(why && remedy)
        }
      })
    }
  })
}
