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
  let epochsMet: number
  let now: Date
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'watch-'))
    log = new WitnessedLog().append(10)
    events = []
    epochsMet = 0
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
      onEpoch: async () => {
        epochsMet += 1
      },
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

  test('[CHN-25] [BKP-20] tells of another epoch once, also when it was killed in between', async () => {
    await round(0)
    const witness = await readFile(paths().logWitnessFile)
    log.beginEpoch(log.checkpoint).append(2)
    await round(1)
    await writeFile(paths().logWitnessFile, witness)
    log.append(1)
    await round(2)
    await round(4)
    const payload = { origem: 'cartorio/vault/2', entradas: 10 }
    assert.deepEqual(
      events.map(({ event }) => event),
      [
        { type: 'log_epoch_adopted', payload },
        { type: 'log_epoch_adopted', payload },
      ],
    )
    assert.equal(events[0]?.requestId, events[1]?.requestId)
    assert.equal(epochsMet, 2)
    assert.equal((await described()).origin, 'cartorio/vault/2')
  })

  test('a file that is damaged is met anew, also when its form is right', async () => {
    await round(0)
    const whole = await readFile(paths().logWitnessFile, 'utf8')
    for (const damaged of ['{"key":', whole.replace('cartorio/vault+', 'cartorio/vault-')]) {
      await writeFile(paths().logWitnessFile, damaged)
      assert.deepEqual(await round(1), [])
      assert.equal((await described()).state, 'good')
    }
  })

  test('[CHN-24] raises the alarm once for one incident, though the log that was put back grows', async () => {
    await round(0)
    log.rewrite((records) => records.slice(0, 5))
    for (const hours of [1, 2, 3]) {
      log.append(1)
      await round(hours)
    }
    log.replaceKey()
    await round(4)
    assert.deepEqual(
      (await described()).alarms.map(({ reason }) => reason),
      ['the checkpoint is not signed with the key of the log', 'the log has 6 entries, and had 10'],
    )
    assert.equal(events.length, 2)
  })

  const UNPROVEN = 'the hub answers, and has shown or proven nothing new of its log for a day'
  const silences: [what: string, day: () => Promise<readonly string[]>][] = [
    [
      'shows nothing of its log any more',
      () =>
        rounds(async (watch) => {
          watch.noteCheckpoint(undefined)
        }),
    ],
    [
      'shows the same as ever, though the agent sent events since',
      () =>
        rounds(async (watch) => {
          watch.noteEvent(new Date(now.getTime() - HOUR_MS / 2))
          watch.noteEvent(now)
          watch.noteCheckpoint(log.checkpoint)
        }),
    ],
    [
      'refuses each proof',
      () =>
        rounds(async (watch) => {
          log.refusal = { status: 503, code: 'unavailable' }
          watch.noteCheckpoint(log.append(1).checkpoint)
        }),
    ],
  ]
  /** From the second hour on, one each hour, until there is a problem of this kind; agents are started anew in between. */
  async function rounds(prepare: (watch: LogWatch) => Promise<void>): Promise<readonly string[]> {
    for (let hours = 2; hours < 30; hours += 1) {
      now = new Date(START + hours * HOUR_MS)
      const watch = new LogWatch(paths(), await readKnownLog(paths()))
      await prepare(watch)
      const problems = await roundOf(watch)
      const found = problems.filter((problem) => problem.includes(UNPROVEN))
      if (found.length > 0) return [...found, `after ${hours - 2} h`]
    }
    return []
  }
  for (const [what, day] of silences) {
    test(`[CHN-24] raises the alarm after a day in which the hub answers and ${what}`, async () => {
      await round(0)
      assert.deepEqual(await day(), [`the hub’s audit log: ${UNPROVEN}`, 'after 24 h'])
      assert.equal((await described()).state, 'alarm')
      assert.deepEqual(
        events.map(({ event }) => event),
        [{ type: 'log_alarm', payload: { motivo: UNPROVEN } }],
      )
    })
  }

  test('[CHN-24] raises no alarm at a log that shows each event of the agent, and no others', async () => {
    await round(0)
    for (let day = 1; day < 4; day += 1) {
      for (const [hour, isSent] of [
        [1, true],
        [2, false],
        [23, false],
      ] as const) {
        now = new Date(START + (day * 24 + hour) * HOUR_MS)
        const watch = new LogWatch(paths(), await readKnownLog(paths()))
        if (isSent) {
          watch.noteEvent(now)
          log.append(1)
        }
        watch.noteCheckpoint(log.checkpoint)
        assert.deepEqual(await roundOf(watch), [])
      }
    }
    assert.deepEqual((await described()).alarms, [])
    assert.equal((await readKnownLog(paths())).witness?.unproven, undefined)
  })

  test('[CHN-24] raises no alarm at a hub that was gone for a week', async () => {
    await round(0)
    for (const hours of [2, 3, 171]) {
      log.refusal = { status: 503, code: 'unavailable' }
      log.append(1)
      assert.equal((await round(hours)).length, 1)
    }
    assert.deepEqual(await round(172), [])
    assert.equal((await described()).state, 'good')
    assert.equal((await readKnownLog(paths())).witness?.unproven, undefined)
  })

  test('can still be started after a hub answered as much as it may, ten times', async () => {
    await round(0)
    const epochs = Array.from({ length: 64 }, () => '\u0001'.repeat(1024))
    const alarms = Array.from({ length: 10 }, (_, index) => ({
      at: '',
      reason: `${index}`,
      key: '\u0001'.repeat(1024),
      seen: '\u0001'.repeat(4096),
      ahead: '\u0001'.repeat(4096),
      shown: '\u0001'.repeat(4096),
      epochs,
    }))
    await writeFile(paths().logAlarmsFile, JSON.stringify(alarms, null, 2))
    assert.equal((await described()).alarms.length, 10)
  })
})
