import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  isFiltered,
  mayMatch,
  readFilters,
  toCommand,
  toQuery,
  toRequest,
} from './entry-filters.ts'

describe('[ADT-6] filters of the log', () => {
  for (const [query, request, command] of [
    ['', { routine: false }, 'svc evento list --no-routine --limit 200'],
    ['routine=true', {}, 'svc evento list --limit 200'],
    [
      'who=people&about=web-1',
      { about: 'web-1', by: 'people', routine: false },
      'svc evento list --about web-1 --by people --no-routine --limit 200',
    ],
    [
      'who=token:ci&type=a,b,&from=2026-11-01T00:00:00.000Z&until=x',
      {
        actor: 'token:ci',
        tipos: ['a', 'b'],
        since: '2026-11-01T00:00:00.000Z',
        until: 'x',
        routine: false,
      },
      'svc evento list --actor token:ci --since 2026-11-01T00:00:00.000Z --until x --no-routine --tipo a --tipo b --limit 200',
    ],
  ] as const) {
    test(`${query === '' ? 'none' : query}: asked for, and as a command`, () => {
      const filters = readFilters(Object.fromEntries(new URLSearchParams(query)))
      assert.deepEqual(toRequest(filters), request)
      assert.equal(toCommand(filters), command)
      const again = Object.entries(toQuery(filters)).filter(([, value]) => value !== undefined)
      assert.deepEqual(readFilters(Object.fromEntries(again) as Record<string, string>), filters)
    })
  }

  test('of a link that somebody sent are one word each to a shell', () => {
    const filters = readFilters({ about: `x'; rm -rf ~ #`, who: '$(id)' })
    assert.equal(
      toCommand(filters),
      `svc evento list --about 'x'\\''; rm -rf ~ #' --actor '$(id)' --no-routine --limit 200`,
    )
  })

  test('routine alone is no filter', () => {
    assert.equal(isFiltered(readFilters({ routine: 'true' })), false)
    assert.equal(isFiltered(readFilters({ until: 'x' })), true)
  })
})

test('[ADT-6] an entry of a type that is left out, or not asked for, is none that a list waits for', () => {
  const matches = (query: string) => (tipo: string) =>
    mayMatch(readFilters(Object.fromEntries(new URLSearchParams(query))), tipo)
  const types = ['token_created', 'manifest_pulled']
  assert.deepEqual(types.filter(matches('')), ['token_created'])
  assert.deepEqual(types.filter(matches('routine=true')), types)
  assert.deepEqual(types.filter(matches('type=agent_revoked')), [])
  assert.deepEqual(types.filter(matches('type=manifest_pulled&routine=true')), ['manifest_pulled'])
  // An agent that connects rings too, and is no entry.
  assert.equal(matches('')('presence'), false)
  assert.equal(matches('routine=true')('presence'), false)
})
