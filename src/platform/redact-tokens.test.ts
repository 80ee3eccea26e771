import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { redactTokens } from './redact-tokens.ts'

const REST = 'Zm9v_YmFy-QUJDREVGR0hJSktMTU5PUFFSU1RVVlc'

describe('[LOG-5] a token in a text', () => {
  for (const prefix of ['svct_', 'svca_', 'svcj_', 'svcl_', 'svcc_', 'svcs_']) {
    const token = `${prefix}${REST}`
    const encoded = (text: string): string =>
      text.replaceAll(/./g, (each) => `%${each.charCodeAt(0).toString(16)}`)
    const spellings = {
      'as it is': token,
      'with its prefix in capitals': `${prefix.toUpperCase()}${REST}`,
      'with its underscore percent-encoded': `${prefix.slice(0, 4)}%5F${REST}`,
      'percent-encoded whole': encoded(token),
      'percent-encoded whole, in capitals': encoded(token).toUpperCase(),
      'percent-encoded twice': encoded(token).replaceAll('%', '%25'),
      'with one letter percent-encoded': `s%76${token.slice(2)}`,
      'cut short': token.slice(0, 12),
    }
    for (const [how, spelt] of Object.entries(spellings)) {
      test(`${prefix} ${how} is not there`, () => {
        assert.equal(redactTokens(`?a=${spelt}&b=1`), '?a=[redacted]&b=1')
      })
    }

    test(`${prefix} in base64 is not there, wherever it begins`, () => {
      for (const before of ['', 'a', 'ab', 'abc', 'user:', 'Bearer ']) {
        for (const encoding of ['base64', 'base64url'] as const) {
          const text = Buffer.from(`${before}${token}`).toString(encoding)
          const redacted = redactTokens(`"${text}"`)
          assert.match(redacted, /^"[\w+/-]{0,12}\[redacted\]"$/, `${before} ${encoding}`)
        }
      }
    })

    test(`${prefix} as base64 of any bytes around it is not there`, () => {
      for (let round = 0; round < 200; round += 1) {
        const before = randomBytes(round % 7)
        const text = Buffer.concat([before, Buffer.from(token)]).toString('base64')
        assert.ok(redactTokens(text).includes('[redacted]'), `${before.toString('hex')} ${text}`)
      }
    })
  }

  test('[JNR-18] of a platform (a JWT) is not there, whole or cut short', () => {
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const signed = `${encode({ alg: 'RS256', kid: 'k1' })}.${encode({ iss: 'https://a.example' })}`
    const whole = `${signed}.${REST}`
    for (const token of [whole, signed, whole.slice(0, 60), whole.replaceAll('.', '%2E')]) {
      assert.equal(redactTokens(`/v1/enroll/${token}/x`), '/v1/enroll/[redacted]/x')
      assert.equal(redactTokens(`Bearer%20${token}`), 'Bearer%20[redacted]')
    }
    const begun = 'eyJ'.repeat(100_000)
    const from = performance.now()
    assert.equal(redactTokens(begun), begun)
    assert.ok(performance.now() - from < 1000)
  })

  test('is not there however many there are', () => {
    assert.equal(
      redactTokens(`svct_${REST} and svca_${REST}, svct_${REST}`),
      '[redacted] and [redacted], [redacted]',
    )
  })

  test('takes nothing along that is none', () => {
    for (const text of [
      'svc token list shows ids and hostnames',
      'one line that begins with svca_, as svc admin token create prints it',
      '/v1/blobs/00000000-0000-4000-8000-000000000000?x=%20%2F',
      '{"level":"info","module":"svc-ca"}',
      'eyJ.example.org and keyJar.crt',
    ]) {
      assert.equal(redactTokens(text), text)
    }
  })
})
