import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { Clock } from '../../../platform/clock.ts'
import type { Logger } from '../../../platform/logger.ts'
import { Secret } from '../../../platform/secret.ts'
import {
  append,
  insertAgent,
  newAgent,
  newCertificate,
} from '../../../../test/store/store-samples.ts'
import type { Store } from '../../store/store.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { listNewlyLate, watchLateRenewals } from './late-renewals.ts'

const START = Date.parse('2026-11-21T10:00:00Z')
const HOUR = 3_600_000
const at = (hours: number): Date => new Date(START + hours * HOUR)

describe('certificates that become late', () => {
  let directory: string
  let store: Store
  let logged: string[]
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'late-'))
    store = await openSqliteStore({
      path: join(directory, 'db.enc'),
      dataKey: new Secret(randomBytes(32)),
      createIfMissing: true,
    })
    logged = []
    // Late when three hours are left: at 1, 2 and 3 hours, and one that never is.
    for (const [index, end] of [4, 5, 6, 24].entries()) {
      const agent = await insertAgent(store, `web-${index + 1}`)
      const life = { notBefore: at(end - 24), notAfter: at(end) }
      await store.write((writer) =>
        writer.insertCertificate({ ...newCertificate(agent.id), ...life }),
      )
    }
  })
  afterEach(async () => {
    await store.close()
    await rm(directory, { recursive: true })
  })

  /** A hub from its start to its end, by whose clock it is each of these hours in turn. */
  async function watch(hours: readonly number[], watched = store): Promise<void> {
    const stop = new AbortController()
    let round = -1
    const clock: Clock = {
      now: () => at(hours[round] ?? 0),
      sleep: async () => {
        if ((round += 1) >= hours.length) stop.abort()
      },
    }
    const log = { warn: (fields: { hostname: string }) => logged.push(fields.hostname) }
    const dependencies = { store: watched, clock, thresholdMs: 6 * HOUR }
    await watchLateRenewals(dependencies, log as unknown as Logger, stop.signal)
  }

  const listRecorded = async (): Promise<string[]> =>
    (
      await store.reader.listEntries({ afterSeq: 0, limit: 9999, eventType: 'certificate_late' })
    ).map(({ payloadText }) => (JSON.parse(payloadText) as { hostname: string }).hostname)

  test('[MET-13] windows that follow one another name each late certificate once, in the log too', async () => {
    const named: string[][] = []
    for (let hour = 0; hour < 4; hour += 1) {
      const late = await listNewlyLate(
        { store, clock: { now: () => at(0), sleep: async () => undefined }, thresholdMs: 6 * HOUR },
        { since: at(hour), until: at(hour + 1) },
      )
      assert.deepEqual(
        late.map(({ lateSince }) => lateSince),
        late.map(() => at(hour + 1)),
      )
      named.push(late.map(({ hostname }) => hostname))
    }
    assert.deepEqual(named, [['web-1'], ['web-2'], ['web-3'], []])

    await watch([1, 2, 3, 4])
    assert.deepEqual(logged, ['web-1', 'web-2', 'web-3'])
    assert.deepEqual(await listRecorded(), ['web-1', 'web-2', 'web-3'])

    // A hub that is started again, with a clock that was set back meanwhile, records none of them twice.
    await watch([2, 2])
    assert.equal(logged.length, 3)
  })

  test('[MET-13] are recorded from then on when the clock was ahead for a while and is set back', async () => {
    await watch([0, 100, 1, 2, 3])
    const ahead = ['web-1', 'web-2', 'web-3', 'web-4']
    assert.deepEqual(await listRecorded(), [...ahead, 'web-2', 'web-3'])
  })

  test('[MET-13] [EVT-6] are recorded although an agent sends events of the same type', async () => {
    const agent = await insertAgent(store, 'liar')
    const eventType = 'certificate_late'
    for (const payloadText of ['{"until":"9999-01-01T00:00:00Z"}', '{}', '[]']) {
      await append(store, { agentId: agent.id, eventType, payloadText })
      await watch([0])
    }
    await watch([1, 2])
    await append(store, { agentId: agent.id, eventType, payloadText: '{"until":"1970-01-01"}' })
    await watch([2, 3])
    assert.deepEqual(logged, ['web-1', 'web-2', 'web-3'])
  })

  test('[MET-13] are recorded by a hub that is started after the clock was ahead', async () => {
    await watch([0, 100])
    await watch([1, 2, 3])
    const ahead = ['web-1', 'web-2', 'web-3', 'web-4']
    assert.deepEqual(await listRecorded(), [...ahead, 'web-2', 'web-3'])
  })

  test('[MET-13] are all recorded, and each once, after an outage that ends with a store that fails', async () => {
    const names = Array.from({ length: 2500 }, (_value, index) => `many-${index}`)
    await store.write(async (writer) => {
      for (const [index, name] of names.entries()) {
        const agent = newAgent(name)
        await writer.insertAgent(agent)
        // A thousand in one instant, the others one after the other.
        const end = 4 + Math.max(0, index - 1000) / 10_000
        const life = { notBefore: at(end - 24), notAfter: at(end) }
        await writer.insertCertificate({ ...newCertificate(agent.id), ...life })
      }
    })
    let writes = 0
    const failing: Store = {
      reader: store.reader,
      version: 0,
      versionOf: () => 0,
      write: async (work) => {
        if ((writes += 1) === 3) throw new Error('the disk is full')
        return store.write(work)
      },
      close: () => store.close(),
    }
    await watch([1.5], failing)
    const before = await listRecorded()
    assert.ok(before.length > 1000 && before.length < 2501, `${before.length}`)
    await watch([1.5])
    const recorded = await listRecorded()
    assert.equal(recorded.length, 2501)
    assert.deepEqual(new Set(recorded), new Set(['web-1', ...names]))
  })
})
