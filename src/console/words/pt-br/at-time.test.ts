import assert from 'node:assert/strict'
import { test } from 'node:test'
import { host } from './host.ts'
import { overview } from './overview.ts'

test('a time of today is às, another day is em', () => {
  assert.match(host.lateText('20:19'), /^Deveria ter renovado às 20:19\. /)
  assert.match(host.lateText('28 de nov., 20:19'), /^Deveria ter renovado em 28 de nov\., 20:19\. /)
  assert.equal(overview.ends('05:48'), 'vence às 05:48')
})
