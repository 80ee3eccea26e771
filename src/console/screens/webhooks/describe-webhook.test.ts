import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatOf, parseTipos, urlOf } from './describe-webhook.ts'

test('the form of a message is a part of its URL', () => {
  assert.equal(urlOf('slack', ' https://hooks.example/x '), 'slack+https://hooks.example/x')
  assert.equal(urlOf('slack', 'slack+https://hooks.example/x'), 'slack+https://hooks.example/x')
  assert.equal(urlOf('json', 'https://hooks.example/x'), 'https://hooks.example/x')
  assert.equal(urlOf('mail', 'smtps://mail.example/?to=a'), 'smtps://mail.example/?to=a')
  for (const format of ['json', 'slack', 'teams', 'otlp'] as const) {
    assert.equal(formatOf(urlOf(format, 'https://hooks.example/x')), format)
  }
  assert.equal(formatOf('smtp+tls://mail.example'), 'mail')
  assert.equal(formatOf('syslog+tls://log.example'), 'syslog')
})

test('each type is one', () => {
  assert.deepEqual(parseTipos('a, b\na'), ['a', 'b'])
})
