import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginStep, withTrace } from '../../platform/trace.ts'
import { errorOfReply } from './hub-calls.ts'

test('[LOG-10] of a failure of the hub svc says under which trace_id its log has more', () => {
  const trace = beginStep(undefined, 'c'.repeat(32))
  const errorOf = (status: number, error: string) =>
    withTrace(trace, () => errorOfReply('listAgents', {}, status, { error, message: 'it failed' }))
  assert.equal(
    errorOf(500, 'internal_error').hint,
    'the log of the hub says more, in the lines with trace_id cccccccccccccccccccccccccccccccc',
  )
  // A refusal has said all.
  assert.equal(errorOf(409, 'some_refusal').hint, undefined)
  assert.equal(errorOfReply('listAgents', {}, 500, { error: 'x', message: 'y' }).hint, undefined)
})
