import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { createLogging } from '../../../platform/logger.ts'
import { createRefusalRecorder, type AdminRefusal } from './record-refusals.ts'

const FORGED: AdminRefusal = {
  actor: undefined,
  address: '192.0.2.1',
  reason: 'admin_token_invalid',
}

test('[API-12] a thousand strangers in a minute are seventeen entries, and a count of all', async () => {
  await using store = await openTemporaryStore()
  const clock = {
    now: () => new Date('2026-11-21T10:00:00Z'),
    sleep: () => Promise.reject(new Error()),
  }
  const log = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('t')
  const recorder = createRefusalRecorder(store, clock, log)
  for (let index = 0; index < 1000; index += 1) {
    recorder.record({ ...FORGED, address: `192.0.2.${index}` })
  }
  const entriesOf = async (): Promise<Record<string, unknown>[]> => {
    await store.write(() => Promise.resolve())
    const entries = await store.reader.listEntries({ afterSeq: 0, limit: 100 })
    return entries.map(({ payloadText }) => JSON.parse(payloadText) as Record<string, unknown>)
  }
  assert.equal((await entriesOf()).length, 17)
  const stopped = AbortSignal.abort()
  await recorder.run(stopped)
  assert.equal((await entriesOf()).length, 17, 'nothing is done once it has stopped')

  const stop = new AbortController()
  const sleeping = createRefusalRecorder(
    store,
    {
      ...clock,
      sleep: async () => {
        stop.abort()
      },
    },
    log,
  )
  for (let count = 0; count < 50; count += 1) sleeping.record(FORGED)
  await sleeping.run(stop.signal)
  const counts = (await entriesOf()).slice(17).map(({ count }) => count)
  assert.deepEqual(counts, [1, 49])
})

test('[API-12] strangers who take all the places neither hide a token nor are counted under its name', async () => {
  await using store = await openTemporaryStore()
  const stop = new AbortController()
  const clock = {
    now: () => new Date('2026-11-21T10:00:00Z'),
    sleep: async () => stop.abort(),
  }
  const log = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('t')
  const recorder = createRefusalRecorder(store, clock, log)
  const refuse = (from: number, until: number): void => {
    for (let index = from; index < until; index += 1) {
      recorder.record({ ...FORGED, address: `192.0.2.${index}` })
    }
  }
  refuse(0, 16)
  const ofToken: AdminRefusal = {
    actor: 'token:looker',
    address: '198.51.100.1',
    reason: 'role_insufficient',
    operation: 'removeAgent',
  }
  recorder.record(ofToken)
  refuse(16, 30)
  recorder.record({ ...ofToken, actor: 'token:other', address: '198.51.100.2' })
  await recorder.run(stop.signal)
  const entries = await store.reader.listEntries({ afterSeq: 16, limit: 100 })
  assert.deepEqual(
    entries.map(({ payloadText }) => {
      const { actor, address, count } = JSON.parse(payloadText) as Record<string, unknown>
      return [actor, address, count]
    }),
    [
      ['token:looker', 'others', 1],
      ['unknown', 'others', 1],
      ['token:other', 'others', 1],
      ['unknown', 'others', 13],
    ],
  )
})

test('[API-12] each minute has its own entry, with the refusals since the one before', async () => {
  await using store = await openTemporaryStore()
  let nowMs = Date.parse('2026-11-21T10:00:00Z')
  const stop = new AbortController()
  const seconds = { left: 185 }
  const log = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('t')
  const recorder = createRefusalRecorder(
    store,
    {
      now: () => new Date(nowMs),
      sleep: async () => {
        nowMs += 5000
        seconds.left -= 5
        recorder.record(FORGED)
        if (seconds.left <= 0) stop.abort()
      },
    },
    log,
  )
  await recorder.run(stop.signal)
  const entries = await store.reader.listEntries({ afterSeq: 0, limit: 100 })
  const counts = entries.map(
    ({ payloadText }) => (JSON.parse(payloadText) as { count: number }).count,
  )
  assert.deepEqual(counts, [1, 12, 12, 12])
})

test('[OID-8] people are told apart by their subjects, and nobody is blamed for the others', async () => {
  await using store = await openTemporaryStore()
  const stop = new AbortController()
  const clock = {
    now: () => new Date('2026-11-21T10:00:00Z'),
    sleep: async () => stop.abort(),
  }
  const log = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('t')
  const recorder = createRefusalRecorder(store, clock, log)
  for (let at = 0; at < 20; at += 1) {
    const person = { issuer: 'https://sso.example.org', subject: `s${at}`, name: 'ana@example.org' }
    recorder.record({ ...FORGED, reason: 'sign_in_no_role', person })
  }
  await recorder.run(stop.signal)
  const entries = await store.reader.listEntries({ afterSeq: 0, limit: 100 })
  const said = entries.map(({ payloadText }) => {
    const { subject, name, count } = JSON.parse(payloadText) as Record<string, unknown>
    return [subject, name, count]
  })
  assert.deepEqual(
    said.slice(0, 16),
    Array.from({ length: 16 }, (_, at) => [`s${at}`, 'ana@example.org', 1]),
  )
  assert.deepEqual(said.slice(16), [
    [undefined, undefined, 1],
    [undefined, undefined, 3],
  ])
})
