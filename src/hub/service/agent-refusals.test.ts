import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentId } from '../../protocol/identifiers.ts'
import { createAgentRefusals, REFUSALS_MAX, type RefusedRequest } from './agent-refusals.ts'

const WEB = 'web' as AgentId
const START_MS = Date.parse('2026-11-23T00:00:00Z')

function open(agentsMax?: number) {
  let nowMs = START_MS
  const clock = { now: () => new Date((nowMs += 1000)) }
  return createAgentRefusals(clock, agentsMax)
}

const refused = (changes: Partial<RefusedRequest> = {}): RefusedRequest => ({
  code: 'ca_failed',
  operation: 'issue',
  reason: 'why',
  requestId: 'r1',
  deliveryId: null,
  ...changes,
})

test('[API-120] requests of one kind that are refused on end are one refusal, with the first and the last time', () => {
  const refusals = open()
  refusals.note(WEB, refused())
  refusals.note(WEB, refused({ code: 'rate_limited', operation: 'events' }))
  refusals.note(WEB, refused({ requestId: 'r3', reason: 'why now' }))
  refusals.note(WEB, refused({ deliveryId: 'd1' }))
  assert.deepEqual(
    refusals
      .list(WEB)
      .map(({ code, deliveryId, requestId, reason, times, since, at }) => [
        `${code} ${deliveryId} ${requestId} ${reason} ${times}`,
        since.getTime() - START_MS,
        at.getTime() - START_MS,
      ]),
    [
      ['ca_failed d1 r1 why 1', 4000, 4000],
      ['ca_failed null r3 why now 2', 1000, 3000],
      ['rate_limited null r1 why 1', 2000, 2000],
    ],
  )
})

test('[LIM-80] eight of an agent are kept, of the agents that were refused last, and little of what they sent', () => {
  const refusals = open(2)
  for (let at = 0; at < 20; at += 1) refusals.note(WEB, refused({ deliveryId: `d${at}` }))
  assert.deepEqual(
    refusals.list(WEB).map(({ deliveryId }) => deliveryId),
    Array.from({ length: REFUSALS_MAX }, (_, at) => `d${19 - at}`),
  )
  const db = 'db' as AgentId
  refusals.note(db, refused({ reason: 'x'.repeat(1000), deliveryId: 'y'.repeat(1000) }))
  assert.equal(refusals.list(db)[0]?.reason.length, 300)
  assert.equal(refusals.list(db)[0]?.deliveryId?.length, 64)
  refusals.note(WEB, refused())
  refusals.note('app' as AgentId, refused())
  assert.deepEqual(refusals.list(db), [])
  assert.equal(refusals.list(WEB).length, REFUSALS_MAX)
})
