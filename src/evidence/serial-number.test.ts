import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseSerial } from './serial-number.ts'

describe('[EVD-10] a serial as CA and OpenSSL print it', () => {
  const SAME = '1a2b3c4d5e6f708192a3b4c5d6e7f809'
  for (const text of [
    '34784419729695855966531441567273056265',
    '0x1a2b3c4d5e6f708192a3b4c5d6e7f809',
    '0X001A2B3C4D5E6F708192A3B4C5D6E7F809',
    'serial=1A2B3C4D5E6F708192A3B4C5D6E7F809',
    '1a:2b:3c:4d:5e:6f:70:81:92:a3:b4:c5:d6:e7:f8:09',
    '1A2B3C4D5E6F708192A3B4C5D6E7F809',
    '34784419729695855966531441567273056265 (0x1a2b3c4d5e6f708192a3b4c5d6e7f809)',
  ]) {
    test(text, () => {
      assert.equal(parseSerial(text), SAME)
    })
  }

  test('of 32 bytes at most', () => {
    assert.equal(parseSerial((2n ** 256n - 1n).toString()), 'f'.repeat(64))
  })

  test('digits alone are decimal, after serial= they are hex', () => {
    assert.deepEqual(['10', 'serial=10', '0x10', '00', '0'].map(parseSerial), [
      'a',
      '10',
      '10',
      '0',
      '0',
    ])
  })

  for (const text of [
    '',
    'x',
    '-1',
    '1 2',
    '1.0',
    '10 (0xb)',
    'a::b',
    ':ab',
    '1:',
    '9'.repeat(79),
    // More than 32 bytes, in as many digits as 32 bytes may have.
    '9'.repeat(78),
    (2n ** 256n).toString(),
    'f'.repeat(65),
  ]) {
    test(`not "${text.slice(0, 20)}"`, () => {
      assert.equal(parseSerial(text), undefined)
    })
  }
})
