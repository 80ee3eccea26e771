import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseClaims, parseLabels, stateOfToken } from './describe-enrolment.ts'

const AT = '2026-11-26T12:00:00Z'
const AT_MS = Date.parse(AT)

test('a token is open until it is used or ends', () => {
  const open = { consumed_at: null, expires_at: AT }
  assert.equal(stateOfToken(open, AT_MS - 1), 'open')
  assert.equal(stateOfToken(open, AT_MS), 'ended')
  assert.equal(stateOfToken({ ...open, consumed_at: AT }, AT_MS + 1), 'used')
})

test('labels and claims are a line each', () => {
  assert.deepEqual(parseLabels('env=prod\n\n rack = a=1 '), { env: 'prod', rack: 'a=1' })
  assert.equal(parseLabels('env'), undefined)
  assert.deepEqual(parseLabels(''), {})
  assert.deepEqual(parseClaims('sub=a*\nsub=b\nref=main'), [
    { claim: 'sub', values: ['a*', 'b'] },
    { claim: 'ref', values: ['main'] },
  ])
  assert.equal(parseClaims(''), undefined)
  assert.equal(parseClaims('sub='), undefined)
})
