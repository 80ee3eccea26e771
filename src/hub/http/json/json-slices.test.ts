import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { inSlices } from './json-slices.ts'

test('[FLT-8] a reply with a long list is the same JSON, made in slices', async () => {
  for (const count of [1001, 2000, 2500]) {
    const rows = Array.from({ length: count }, (_, index) => ({ id: index, nome: 'ação' }))
    const body = { next: null, left_out: undefined, entregas: rows, versao: 2, none: [] }
    const sliced = inSlices(body)
    assert.ok(sliced instanceof Readable)
    assert.equal(await text(sliced), JSON.stringify(body))
  }
})

test('[FLT-8] one without is sent as it is', () => {
  const body = { entregas: [1, 2], next: null }
  assert.equal(inSlices(body), body)
})
