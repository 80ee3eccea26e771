import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createUsedTokens } from './used-tokens.ts'

const at = (seconds: number): Date => new Date(1_800_000_000_000 + seconds * 1000)

describe('used tokens', () => {
  test('are used once until they expire', () => {
    const tokens = createUsedTokens()
    assert.equal(tokens.use('a', at(300), at(0)), true)
    assert.equal(tokens.use('a', at(300), at(0)), false)
    assert.equal(tokens.use('a', at(300), at(299)), false)
    assert.equal(tokens.use('b', at(300), at(0)), true)
  })

  test('are forgotten after they have expired', () => {
    const tokens = createUsedTokens()
    tokens.use('a', at(300), at(0))
    tokens.use('b', at(900), at(0))
    assert.equal(tokens.use('a', at(1200), at(400)), true)
    assert.equal(tokens.use('b', at(1200), at(400)), false)
  })
})
