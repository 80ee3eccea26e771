import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { EventType, HubEventType } from '../protocol/words.ts'
import { describeEntry } from './describe-entry.ts'
import { PORTUGUESE } from './portuguese.ts'

const ALL = [
  ...Object.values(EventType).map((type) => ({ type, agentId: 'a', hostname: 'web-1' })),
  ...Object.values(HubEventType).map((type) => ({ type, agentId: null, hostname: null })),
]

describe('[WHK-32] an entry in Portuguese', () => {
  test('has a title of its own and a whole sentence, whatever is missing', () => {
    const titles = new Set<string>()
    for (const entry of ALL) {
      const said = describeEntry({ seq: 7, payload: {}, ...entry }, PORTUGUESE)
      titles.add(said.title)
      assert.match(said.sentence, /^\S.*\.$/, entry.type)
      assert.doesNotMatch(
        said.sentence,
        /undefined|null|NaN|\[object|\.\.|\s\.| {2}/,
        said.sentence,
      )
    }
    assert.equal(titles.size, ALL.length)
  })

  test('names who, what and why', () => {
    const payload = { actor: 'maria', hostname: 'web-1', reason: 'silencio' }
    const entry = { seq: 7, type: 'token_revoked', payload, agentId: null, hostname: null }
    assert.equal(
      describeEntry(entry, PORTUGUESE).sentence,
      'maria encerrou o token de inscrição de web-1: silencio.',
    )
  })
})
