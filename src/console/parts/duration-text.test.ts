import assert from 'node:assert/strict'
import { test } from 'node:test'
import { durationText, parseDurationText } from './duration-text.ts'

test('a duration is read as it is written', () => {
  for (const text of ['90d', '25h', '15m', '61s']) {
    const seconds = parseDurationText(text)
    assert.ok(seconds !== undefined, text)
    assert.equal(durationText(seconds), text)
  }
  assert.equal(parseDurationText(' 24h '), 86_400)
  assert.equal(durationText(86_400), '1d')
})

test('what is no duration is none', () => {
  for (const text of ['', '0h', '5', 'h', '-1h', '1.5h', '1w', '9999999999s']) {
    assert.equal(parseDurationText(text), undefined, text)
  }
})
