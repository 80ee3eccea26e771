import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeBytes } from './describe-bytes.ts'

test('a size has the unit that a person would choose', () => {
  const sizes = [0, 999, 1000, 261_500, 999_600, 12_400_000_000, 3e15]
  assert.deepEqual(
    sizes.map((bytes) => describeBytes(bytes, 'en')),
    ['0 byte', '999 byte', '1 kB', '262 kB', '1 MB', '12.4 GB', '3,000 TB'],
  )
  assert.equal(describeBytes(12_400_000_000, 'pt-BR'), '12,4 GB')
})
