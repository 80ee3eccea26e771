import assert from 'node:assert/strict'
import { test } from 'node:test'
import { collectLog } from '../../../../test/support/collected-log.ts'
import type { Store, StoreWriter } from '../../store/store.ts'
import { indexOlderActs } from './index-older-acts.ts'

/** A store whose slices end as the outcomes say. */
function storeOf(from: number, outcomes: (boolean | Error)[]): Store {
  const writer = {
    indexOlderActs: async () => {
      const outcome = outcomes.shift()
      if (outcome instanceof Error) throw outcome
      return outcome ?? false
    },
  }
  return {
    reader: { findIndexedFrom: async () => from },
    write: <T>(work: (writer: StoreWriter) => Promise<T>) => work(writer as unknown as StoreWriter),
  } as unknown as Store
}

function clockOf(waits: number[]) {
  const sleep = async (waitMs: number): Promise<void> => {
    waits.push(waitMs)
  }
  return { now: () => new Date(0), sleep }
}

test('[CHN-11] older acts are indexed a slice at a time, again after a failure', async () => {
  const waits: number[] = []
  const { log, lines } = collectLog()
  const store = storeOf(70, [true, new Error('disk full'), true, false])
  await indexOlderActs({ store, clock: clockOf(waits) }, log, new AbortController().signal)
  assert.deepEqual(waits, [100, 60_000, 100])
  assert.deepEqual(
    lines.map(({ message }) => message),
    ['Indexing older entries', 'Older entries not indexed, tried again', 'Older entries indexed'],
  )
})

test('[CHN-11] a complete index costs one question', async () => {
  const { log, lines } = collectLog()
  const store = storeOf(1, [new Error('not to be asked')])
  await indexOlderActs({ store, clock: clockOf([]) }, log, new AbortController().signal)
  assert.deepEqual(lines, [])
})

test('[CHN-11] a hub that ends leaves the rest to the next one', async () => {
  const stopping = new AbortController()
  const outcomes = [true, true]
  const clock = {
    now: () => new Date(0),
    sleep: async () => stopping.abort(),
  }
  await indexOlderActs({ store: storeOf(70, outcomes), clock }, collectLog().log, stopping.signal)
  assert.equal(outcomes.length, 1)
})
