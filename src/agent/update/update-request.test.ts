import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { propertyRuns } from '../../../test/support/property.ts'
import {
  formatOutcome,
  formatRequest,
  OUTCOME_BYTES_MAX,
  parseOutcome,
  parseRequest,
  REQUEST_BYTES_MAX,
} from './update-request.ts'

const REQUEST = { version: '0.5.0', rollout: '0123456789abcdef', attempt: 2 }
const LINE = 'version=0.5.0 rollout=0123456789abcdef attempt=2\n'

test('[UPD-25] a request is one line, of a version, a rollout and a number', () => {
  assert.equal(formatRequest(REQUEST), LINE)
  assert.deepEqual(parseRequest(LINE), REQUEST)
  const longest = { ...REQUEST, version: '999999999.999999999.999999999' }
  assert.ok(formatRequest(longest).length <= REQUEST_BYTES_MAX)
})

test('[UPD-26] nothing else is a request', () => {
  for (const text of [
    '',
    LINE.trimEnd(),
    `${LINE}${LINE}`,
    ` ${LINE}`,
    LINE.replace('0.5.0', '../../0.5.0'),
    LINE.replace('0.5.0', '0.5.0/../x'),
    LINE.replace('0.5.0', '0.5'),
    LINE.replace('0.5.0', '0.5.0 url=https://evil.example'),
    LINE.replace('0123456789abcdef', '../etc/passwd000'),
    LINE.replace('attempt=2', 'attempt=22'),
    LINE.replace('attempt=2', 'attempt=0'),
    `${LINE}\u0000`,
  ]) {
    assert.equal(parseRequest(text), undefined, JSON.stringify(text))
  }
})

test('[UPD-27] an outcome comes back as it was, in one line, however long and wide its reason is', () => {
  assert.deepEqual(parseOutcome(formatOutcome({ ...REQUEST, failure: undefined })), {
    ...REQUEST,
    failure: undefined,
  })
  const wide = fc.constantFrom('€', '𝔄', '\u2028\n').map((one) => one.repeat(2000))
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), wide), (message) => {
      const failure = { code: 'download_failed', message }
      const text = formatOutcome({ ...REQUEST, failure })
      const read = parseOutcome(text)
      assert.equal(read?.failure?.code, 'download_failed')
      assert.ok(Buffer.byteLength(text) <= OUTCOME_BYTES_MAX)
      assert.equal(parseRequest(text), undefined)
    }),
    propertyRuns(),
  )
})
