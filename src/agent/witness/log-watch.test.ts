import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { WitnessedLog } from '../../../test/fakes/witnessed-log.ts'
import { createLogging } from '../../platform/logger.ts'
import { HubBudget } from '../hub/budget.ts'
import type { AgentEvent } from '../hub/wire.ts'
import { describeKnownLog, LogWatch, readKnownLog, setKnownLogAside } from './log-watch.ts'

const HOUR_MS = 3_600_000
const START = Date.parse('2026-11-23T10:00:00Z')

describe('[CHN-22] [CHN-23] [CHN-24] [CHN-26] an agent that watches the log', () => {
  let directory: string
  let log: WitnessedLog
  let events: { event: AgentEvent; requestId: string | undefined }[]
  let now: Date
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'watch-'))
    log = new WitnessedLog().append(10)
    events = []
    now = new Date(START)
  })
  afterEach(() => rm(directory, { recursive: true }))

  const paths = () => ({
    logWitnessFile: join(directory, 'log-witness.json'),
    logAlarmsFile: join(directory, 'log-alarms.json'),
    receiptsFile: join(directory, 'receipts.jsonl'),
  })

  /** An agent that is started anew each time, and does one round. */
  async function round(hours: number): Promise<readonly string[]> {
    now = new Date(START + hours * HOUR_MS)
    const watch = new LogWatch(paths(), await readKnownLog(paths()))
    watch.noteCheckpoint(log.checkpoint)
    return roundOf(watch)
  }

  async function roundOf(watch: LogWatch): Promise<readonly string[]> {
    const budget = new HubBudget()
    const logging = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' })
    const context = {
      hub: log.hub,
      outbox: {
        enqueue: async (event: AgentEvent, requestId?: string) => {
          events.push({ event, requestId })
        },
      },
      retries: { isDue: () => true, recordFailure: () => undefined, clear: () => undefined },
      clock: { now: () => now, sleep: async () => undefined },
      log: logging.forModule('test'),
    }
    await watch.check(context, budget)
    return budget.problems
  }

  const described = async () => describeKnownLog(await readKnownLog(paths()))

  test('knows it after a restart, and asks nothing while nothing is new', async () => {
    assert.equal((await described()).state, 'unknown')
    assert.deepEqual(await round(0), [])
    assert.deepEqual(await described(), {
      state: 'good',
      origin: 'cartorio/vault',
      entries: 10,
      checked_at: '2026-11-23T10:00:00.000Z',
      alarms: [],
    })
    await round(5)
    assert.deepEqual(log.asked, ['log'])
    log.append(1)
    await round(6)
    assert.deepEqual(log.asked, ['log', '10-11'])
    assert.equal((await described()).entries, 11)
    assert.deepEqual(events, [])
  })

  test('of a hub that shows none asks nothing', async () => {
    const watch = new LogWatch(paths(), await readKnownLog(paths()))
    assert.deepEqual(await roundOf(watch), [])
    assert.deepEqual(log.asked, [])
  })

  test('keeps the evidence of an alarm, tells of it once, and goes on', async () => {
    await round(0)
    const seen = log.checkpoint
    log.rewrite((records) => records.slice(0, 9))
    const reason = 'the log has 9 entries, and had 10'
    assert.deepEqual(await round(1), [`the hub’s audit log: ${reason}`])
    assert.deepEqual(await round(2), [`the hub’s audit log: ${reason}`])
    const alarms = JSON.parse(await readFile(paths().logAlarmsFile, 'utf8')) as unknown[]
    const { key } = JSON.parse(await readFile(paths().logWitnessFile, 'utf8')) as { key: string }
    const at = '2026-11-23T11:00:00.000Z'
    assert.deepEqual(alarms, [{ at, reason, shown: log.checkpoint, epochs: [], key, seen }])
    assert.deepEqual(
      events.map(({ event }) => event),
      [{ type: 'log_alarm', payload: { motivo: reason } }],
    )
    // A log that is right again is followed again; that it was not is not forgotten.
    log.append(5)
    assert.deepEqual(await round(3), [])
    const { state, entries } = await described()
    assert.deepEqual([state, entries], ['alarm', 14])
  })

  test('meets the log anew when somebody has set aside what it held', async () => {
    await round(0)
    const watch = new LogWatch(paths(), await readKnownLog(paths()))
    log.rewrite((records) => records.slice(0, 9))
    watch.noteCheckpoint(log.checkpoint)
    assert.equal((await roundOf(watch)).length, 1)
    await writeFile(paths().receiptsFile, '')
    assert.equal((await setKnownLogAside(paths(), new Date(START))).length, 3)
    assert.deepEqual(await roundOf(watch), [])
    assert.deepEqual([(await described()).state, (await described()).entries], ['good', 9])
    assert.equal((await readdir(directory)).length, 4)
    assert.deepEqual(await setKnownLogAside({ ...paths(), logWitnessFile: 'none' }, now), [])
  })

  test('[CHN-25] tells of another epoch once, also when it was killed in between', async () => {
    await round(0)
    const witness = await readFile(paths().logWitnessFile)
    log.beginEpoch(log.checkpoint).append(2)
    await round(1)
    await writeFile(paths().logWitnessFile, witness)
    await round(2)
    await round(4)
    const payload = { origem: 'cartorio/vault/2', entradas: 12 }
    assert.deepEqual(
      events.map(({ event }) => event),
      [
        { type: 'log_epoch_adopted', payload },
        { type: 'log_epoch_adopted', payload },
      ],
    )
    assert.equal(events[0]?.requestId, events[1]?.requestId)
    assert.equal((await described()).origin, 'cartorio/vault/2')
  })

  test('a file that is damaged is met anew', async () => {
    await round(0)
    await writeFile(paths().logWitnessFile, '{"key":')
    assert.deepEqual(await round(1), [])
    assert.equal((await described()).state, 'good')
  })
})
