import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findTokenInUrl } from './find-token-in-url.ts'

const REST = 'Zm9v_YmFy-QUJDREVGR0hJSktMTU5PUFFSU1RVVlcxY'

describe('[TOK-10] a token in a URL', () => {
  for (const prefix of ['svct_', 'svca_', 'svcj_']) {
    const token = `${prefix}${REST}`
    const encoded = token.replaceAll(/./g, (each) => `%${each.charCodeAt(0).toString(16)}`)
    const urls = {
      'in the path': `/v1/enroll/${token}`,
      'in the query': `/v1/enroll?token=${token}&x=1`,
      'in the name of a parameter': `/?${token}`,
      'of a whole URL': `http://hub.example/${token}`,
      'of CONNECT': token,
      'after more text': `/x${token}`,
      'before more text': `/${token}xyz`,
      'with one character encoded': `/?a=svc${token.slice(3).replace('_', '%5F')}`,
      'encoded whole': `/?a=${encoded}`,
      'encoded in capitals': `/?a=${encoded.toUpperCase()}`,
      'encoded twice': `/?a=${encoded.replaceAll('%', '%25')}`,
      'beside what cannot be decoded': `/%zz%?a=${encoded}`,
    }
    for (const [where, url] of Object.entries(urls)) {
      test(`${prefix} ${where} is found`, () => assert.equal(findTokenInUrl(url), token))
    }
  }

  test('is none where it is too short, or another thing', () => {
    for (const url of [
      '/health',
      '/v1/blobs/00000000-0000-4000-8000-000000000000?x=%20',
      `/svct_${REST.slice(1)}`,
      `/SVCT_${REST}`,
      `/svcb_${REST}`,
      `/svct_${REST.slice(0, 20)}.${REST.slice(21)}`,
      '/%',
    ]) {
      assert.equal(findTokenInUrl(url), undefined, url)
    }
  })
})
