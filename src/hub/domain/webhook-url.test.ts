import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decideWebhookUrl } from './webhook-url.ts'

describe('[WHK-13] the URL of a webhook', () => {
  for (const url of [
    'https://alerts.example.org/cartorio?team=1',
    'https://10.0.0.8:8443/',
    'https://[fd12:3456::1]/',
    'https://localhost/',
    'http://localhost:9000/events',
    'http://127.0.0.1:9000/',
    'http://127.8.9.10/',
    'http://[::1]:9000/',
  ]) {
    test(`may be ${url}`, () => {
      const verdict = decideWebhookUrl(url)
      assert.equal(verdict.ok, true, JSON.stringify(verdict))
    })
  }

  const refused: [url: string, reason: RegExp][] = [
    ['', /not a URL/],
    ['alerts.example.org', /not a URL/],
    ['ftp://alerts.example.org/', /not https/],
    ['file:///etc/passwd', /not https/],
    ['http://alerts.example.org/', /not https, and not on this machine/],
    ['http://localhost.example.org/', /not on this machine/],
    ['http://10.0.0.8/', /the hub does not send to 10\.0\.0\.8/],
    ['https://user@alerts.example.org/', /credentials/],
    ['https://user:secret@alerts.example.org/', /credentials/],
    ['https://alerts.example.org/#part', /fragment/],
    [`https://alerts.example.org/${'x'.repeat(2048)}`, /too long/],
    ['https://169.254.169.254/latest/meta-data', /does not send to 169\.254\.169\.254/],
    // The same address in other spellings.
    ['https://2852039166/', /does not send to 169\.254\.169\.254/],
    ['https://0xa9fea9fe/', /does not send to 169\.254\.169\.254/],
    ['https://[::ffff:169.254.169.254]/', /does not send to/],
    ['https://[64:ff9b::169.254.169.254]/', /does not send to/],
    ['https://[fe80::1]/', /does not send to/],
    ['https://0.0.0.0/', /does not send to/],
    ['https://[::]/', /does not send to/],
    ['http://0.0.0.0:9000/', /does not send to/],
  ]
  for (const [url, reason] of refused) {
    test(`may not be ${url.slice(0, 60)}`, () => {
      const verdict = decideWebhookUrl(url)
      assert.ok(!verdict.ok, 'it is accepted')
      assert.match(verdict.reason, reason)
    })
  }
})
