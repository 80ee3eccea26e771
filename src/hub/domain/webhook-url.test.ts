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
    ['http://10.0.0.8/', /no address to send to/],
    ['https://user@alerts.example.org/', /credentials/],
    ['https://user:secret@alerts.example.org/', /credentials/],
    ['https://alerts.example.org/#part', /fragment/],
    [`https://alerts.example.org/${'x'.repeat(2048)}`, /too long/],
    ['https://169.254.169.254/latest/meta-data', /169\.254\.169\.254 is no address/],
    // The same address in other spellings.
    ['https://2852039166/', /169\.254\.169\.254 is no address/],
    ['https://0xa9fea9fe/', /169\.254\.169\.254 is no address/],
    ['https://[::ffff:169.254.169.254]/', /no address/],
    ['https://[64:ff9b::169.254.169.254]/', /no address/],
    ['https://[fe80::1]/', /no address/],
    ['https://0.0.0.0/', /no address/],
    ['https://[::]/', /no address/],
    ['http://0.0.0.0:9000/', /no address/],
  ]
  for (const [url, reason] of refused) {
    test(`may not be ${url.slice(0, 60)}`, () => {
      const verdict = decideWebhookUrl(url)
      assert.ok(!verdict.ok, 'it is accepted')
      assert.match(verdict.reason, reason)
    })
  }
})
