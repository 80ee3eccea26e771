import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { didYouMean, nearMatches } from './near-matches.ts'

const TYPES = ['entrega_falhou', 'hook_falhou', 'entrega_instalada', 'agent_enrolled']

describe('near matches', () => {
  const cases: [typed: string, meant: string[]][] = [
    ['entrega_falhuo', ['entrega_falhou']],
    ['entrega_fallou', ['entrega_falhou']],
    ['Entrega_Falhou', ['entrega_falhou']],
    ['hook_falou', ['hook_falhou']],
    ['agent_enroled', ['agent_enrolled']],
    ['nonsense', []],
    ['', []],
    ['x'.repeat(65), []],
  ]
  for (const [typed, meant] of cases) {
    test(`of ${typed.slice(0, 20) || 'nothing'} are ${meant.join(', ') || 'none'}`, () => {
      assert.deepEqual(nearMatches(typed, TYPES), meant)
    })
  }

  test('begin with the nearest, and are three at most', () => {
    assert.deepEqual(nearMatches('web-1', ['web-12', 'web-22', 'web-2', 'web-1', 'wab-2']), [
      'web-1',
      'web-12',
      'web-2',
    ])
  })

  test('become a question', () => {
    assert.equal(didYouMean('wbe', ['web', 'database']), 'did you mean web?')
    assert.equal(didYouMean('nonsense', TYPES), undefined)
  })
})
