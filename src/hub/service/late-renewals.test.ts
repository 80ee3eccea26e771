import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import { Secret } from '../../platform/secret.ts'
import { insertAgent, newCertificate } from '../store/store-samples.ts'
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts'
import { listNewlyLate, watchLateRenewals } from './late-renewals.ts'

const START = Date.parse('2026-11-21T10:00:00Z')
const HOUR = 3_600_000
const at = (hours: number): Date => new Date(START + hours * HOUR)

test('[MET-13] windows that follow one another name each late certificate once, in the log too', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'late-'))
  const store = await openSqliteStore({
    path: join(directory, 'db.enc'),
    dataKey: new Secret(randomBytes(32)),
    createIfMissing: true,
  })
  // Late when three hours are left: at 1, 2 and 3 hours, and one that never is.
  for (const [index, end] of [4, 5, 6, 24].entries()) {
    const agent = await insertAgent(store, `web-${index + 1}`)
    const life = { notBefore: at(end - 24), notAfter: at(end) }
    await store.write((writer) =>
      writer.insertCertificate({ ...newCertificate(agent.id), ...life }),
    )
  }
  const stop = new AbortController()
  let now = at(0)
  let rounds = 0
  const clock: Clock = {
    now: () => now,
    sleep: async () => {
      now = at((rounds += 1))
      if (rounds > 4) stop.abort()
    },
  }
  const dependencies = { store, clock, thresholdMs: 6 * HOUR }
  const named: string[][] = []
  for (let hour = 0; hour < 4; hour += 1) {
    const late = await listNewlyLate(dependencies, { since: at(hour), until: at(hour + 1) })
    assert.deepEqual(
      late.map(({ lateSince }) => lateSince),
      late.map(() => at(hour + 1)),
    )
    named.push(late.map(({ hostname }) => hostname))
  }
  assert.deepEqual(named, [['web-1'], ['web-2'], ['web-3'], []])

  const logged: unknown[] = []
  const log = { warn: (fields: { hostname: string }) => logged.push(fields.hostname) }
  await watchLateRenewals(dependencies, log as unknown as Logger, stop.signal)
  assert.deepEqual(logged, ['web-1', 'web-2', 'web-3'])
  const recorded = await store.reader.listEntries({
    afterSeq: 0,
    limit: 10,
    eventType: 'certificate_late',
  })
  assert.deepEqual(
    recorded.map(({ payloadText }) => (JSON.parse(payloadText) as { hostname: string }).hostname),
    ['web-1', 'web-2', 'web-3'],
  )

  // A hub that is started again, with a clock that was set back meanwhile, records none of them twice.
  rounds = 1
  const again = new AbortController()
  const setBack: Clock = {
    now: () => at(2),
    sleep: async () => {
      if ((rounds += 1) > 3) again.abort()
    },
  }
  await watchLateRenewals(
    { ...dependencies, clock: setBack },
    log as unknown as Logger,
    again.signal,
  )
  assert.equal(logged.length, 3)
  await store.close()
  await rm(directory, { recursive: true })
})
