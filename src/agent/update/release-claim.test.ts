import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseReleaseClaim } from './release-claim.ts'

const CLAIMS = [
  ['version:0.1.1 file:svc-agent', true],
  ['file:svc-agent\tversion:10.20.30', true],
  ['timestamp:1700000000  version:0.1.1   file:svc-agent hashed', true],
  ['version:0.1.1', false],
  ['file:svc-agent', false],
  ['', false],
  ['version:0.1.1 version:0.1.1 file:svc-agent', false],
  ['version:0.1.1 file:svc-agent file:svc', false],
  ['version:0.1 file:svc-agent', false],
  ['version:0.1.1-rc.1 file:svc-agent', false],
  ['version:01.1.1 file:svc-agent', false],
  ['version:0.1.1,file:svc-agent', false],
  ['xversion:0.1.1 file:svc-agent', false],
] as const

test('[UPD-3] a trusted comment names one version and one file among its words', () => {
  for (const [comment, isClaim] of CLAIMS) {
    assert.equal(parseReleaseClaim(comment).ok, isClaim, comment)
  }
  assert.deepEqual(parseReleaseClaim('version:10.20.30 file:svc-agent'), {
    ok: true,
    version: '10.20.30',
    file: 'svc-agent',
  })
})
