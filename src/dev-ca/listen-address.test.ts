import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseListenAddress } from './listen-address.ts'

describe('parseListenAddress', () => {
  test('reads addresses and names with a port', () => {
    assert.deepEqual(parseListenAddress('127.0.0.1:9000'), { host: '127.0.0.1', port: 9000 })
    assert.deepEqual(parseListenAddress('localhost:0'), { host: 'localhost', port: 0 })
    assert.deepEqual(parseListenAddress('[::1]:443'), { host: '::1', port: 443 })
  })

  for (const text of ['', '9000', ':9000', '127.0.0.1', '::1:9000', '[x]:1', 'a:65536', 'a:b']) {
    test(`does not read ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseListenAddress(text), /^UserError: not a listen address: /)
    })
  }
})
