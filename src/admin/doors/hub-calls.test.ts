import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginStep, withTrace } from '../../platform/trace.ts'
import { errorOfReply } from './hub-calls.ts'

test('[LOG-10] of a failure of the hub svc says under which trace_id its log has more', () => {
  const hintOf = (status: number, error: string): string | undefined =>
    errorOfReply('listAgents', {}, status, { error, message: 'it failed' }).hint
  const trace = beginStep(undefined, 'c'.repeat(32))
  assert.equal(
    withTrace(trace, () => hintOf(500, 'internal_error')),
    'the hub’s log says more, in the lines with trace_id cccccccccccccccccccccccccccccccc',
  )
  // A refusal has said all.
  assert.equal(
    withTrace(trace, () => hintOf(409, 'some_refusal')),
    undefined,
  )
  assert.equal(hintOf(500, 'internal_error'), 'the hub’s log says more')
})
