import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { WitnessedLog } from '../../../test/fakes/witnessed-log.ts'
import { checkLog, type LogFinding } from './check-log.ts'
import type { LogWitness } from './log-witness.ts'

const HOUR_MS = 3_600_000
const START = Date.parse('2026-11-23T10:00:00Z')
const at = (hours: number): Date => new Date(START + hours * HOUR_MS)

async function meet(log: WitnessedLog): Promise<LogWitness> {
  return goodOf(await checkLog(undefined, log.checkpoint, log.hub, at(0)))
}

function look(witness: LogWitness, log: WitnessedLog, hours: number): Promise<LogFinding> {
  return checkLog(witness, log.checkpoint, log.hub, at(hours))
}

function goodOf(finding: LogFinding): LogWitness {
  assert.equal(finding.kind, 'good', JSON.stringify(finding))
  assert.ok(finding.kind === 'good')
  return finding.witness
}

function reasonOf(finding: LogFinding): string {
  assert.equal(finding.kind, 'alarm', JSON.stringify(finding))
  return finding.kind === 'alarm' ? finding.reason : ''
}

/** A witness that has seen the log with 100 entries, then with 300, a day apart each. */
async function known(log: WitnessedLog): Promise<LogWitness> {
  let witness = await meet(log.append(100))
  for (const day of [1, 2, 3]) witness = goodOf(await look(witness, log.append(100), day * 24))
  return witness
}

describe('[CHN-23] a witness of a log', () => {
  test('remembers the key that it met, and asks for a proof once an hour while the log grows', async () => {
    const log = new WitnessedLog().append(5)
    const met = await meet(log)
    assert.deepEqual(log.asked, ['log'])
    assert.equal(goodOf(await look(met, log, 5)), met)
    const half = goodOf(await look(met, log.append(5), 0.5))
    const seen = log.checkpoint
    assert.deepEqual([half.newest.note, half.ahead?.note], [met.newest.note, seen])
    assert.equal(goodOf(await look(half, log, 0.6)), half)
    assert.deepEqual(log.asked, ['log'])
    const grown = goodOf(await look(half, log.append(1), 1))
    assert.deepEqual(log.asked, ['log', '5-11', '10-11'])
    assert.equal(grown.newest.note, log.checkpoint)
    assert.deepEqual([grown.key, grown.ahead], [met.key, undefined])
  })

  test('keeps a checkpoint of each day', async () => {
    const log = new WitnessedLog()
    const { earlier } = await known(log)
    assert.deepEqual(
      earlier.map(({ note }) => note.split('\n')[1]),
      ['100', '200', '300'],
    )
  })

  test('keeps one of each hour of the last two days, and one of each day of thirty before', async () => {
    const log = new WitnessedLog()
    let witness = await meet(log)
    for (let hour = 1; hour <= 40 * 24; hour += 1) {
      witness = goodOf(await look(witness, log.append(1), hour))
    }
    const hours = witness.earlier.map((one) => (Date.parse(one.at) - START) / HOUR_MS)
    const gaps = hours.slice(1).map((hour, index) => hour - (hours[index] ?? 0))
    assert.equal(hours.at(-1), 959)
    assert.deepEqual([...new Set(gaps.slice(-48))], [1])
    assert.deepEqual([...new Set(gaps.slice(1, -49))], [24])
    assert.ok(hours.length >= 78 && hours.length <= 80, `${hours.length}`)
  })

  test('waits for an answer that it did not get', async () => {
    const log = new WitnessedLog().append(5)
    const met = await meet(log)
    log.append(1)
    log.refusal = { status: 503, code: 'unavailable' }
    assert.deepEqual(await look(met, log, 2), {
      kind: 'not answered',
      refusal: { ok: false, status: 503, code: 'unavailable' },
    })
    goodOf(await look(met, log, 2))
  })

  test('asks the hub itself when an answer shows an earlier checkpoint: answers overtake each other', async () => {
    const log = new WitnessedLog().append(5)
    const early = log.checkpoint
    await meet(log)
    const met = goodOf(await checkLog(undefined, log.append(1).checkpoint, log.hub, at(0)))
    assert.equal(goodOf(await checkLog(met, early, log.hub, at(0))).newest.note, log.checkpoint)
  })
})

describe('[CHN-24] a witness raises the alarm', () => {
  const ways: [what: string, lie: (log: WitnessedLog) => WitnessedLog, reason: string][] = [
    [
      'a log that is shorter',
      (log) => log.rewrite((records) => records.slice(0, 390)),
      'the log has 390 entries, and had 400',
    ],
    [
      'a log of the same length with another entry',
      (log) => log.rewrite((records) => records.with(7, 'another')),
      'the log has other entries than before among its first 400',
    ],
    [
      'a log that has grown after an entry was changed',
      (log) => log.rewrite((records) => records.with(7, 'another')).append(1),
      'the log does not go on from what the agent has seen',
    ],
    [
      'a log that has grown after entries were removed',
      (log) => log.rewrite((records) => records.toSpliced(50, 10)).append(100),
      'the log does not go on from what the agent has seen',
    ],
    [
      'a log that another key has signed',
      (log) => log.replaceKey().append(1),
      'the checkpoint is not signed with the key of the log',
    ],
  ]
  for (const [what, lie, reason] of ways) {
    test(`at ${what}, and again as long as it is so`, async () => {
      const log = new WitnessedLog()
      const witness = await known(log)
      assert.equal(reasonOf(await look(lie(log) && witness, log, 100)), reason)
      assert.equal(reasonOf(await look(witness, log, 101)), reason)
    })
  }

  const soon: typeof ways = [
    [
      'shorter',
      (log) => log.rewrite((all) => all.slice(0, 403)),
      'the log has 403 entries, and had 405',
    ],
    [
      'another one of the same length',
      (log) => log.rewrite((all) => all.with(402, 'another')),
      'the log has other entries than before among its first 405',
    ],
  ]
  for (const [what, lie, reason] of soon) {
    test(`at once at a log that is ${what} than one that it saw since the last proof`, async () => {
      const log = new WitnessedLog()
      const witness = await known(log)
      const seen = goodOf(await look(witness, log.append(5), 72.1))
      assert.equal(reasonOf(await look(seen, lie(log), 72.2)), reason)
    })
  }

  test('at the next proof at a log that left out the last that the agent saw since the one before', async () => {
    const log = new WitnessedLog()
    const witness = await known(log)
    const seen = goodOf(await look(witness, log.append(5), 72.9))
    log.rewrite((all) => all.with(402, 'another')).append(3)
    const reason = 'the log does not go on from what the agent has seen'
    assert.equal(reasonOf(await look(seen, log, 73)), reason)
  })

  test('when the hub says that it never had what it has signed', async () => {
    const log = new WitnessedLog()
    const witness = await known(log)
    log.append(1)
    const hub = {
      ...log.hub,
      proveConsistency: async () => ({ ok: false, status: 400, code: 'request_invalid' }) as const,
    }
    const finding = await checkLog(witness, log.checkpoint, hub, at(100))
    assert.equal(reasonOf(finding), 'the log does not go on from what the agent has seen')
  })
})

describe('[CHN-25] a log that goes on in another epoch', () => {
  test('is followed once when the hub admits all that the agent saw, and keeps what came before', async () => {
    const log = new WitnessedLog()
    const witness = await known(log)
    const lastKnown = log.append(20).checkpoint
    // A backup of 350 entries was restored; entries came after it.
    log
      .rewrite((records) => records.slice(0, 350))
      .beginEpoch(lastKnown)
      .append(3)
    const finding = await look(witness, log, 100)
    const followed = goodOf(finding)
    assert.ok(finding.kind === 'good')
    // How many the epoch began with, however far it has come: its event is the same one after a kill.
    assert.deepEqual([finding.epoch?.origin, finding.epoch?.size], ['cartorio/vault/2', 350])
    assert.match(followed.key, /^cartorio\/vault\/2\+/)
    const again = await look(followed, log.append(1), 102)
    goodOf(again)
    assert.ok(again.kind === 'good' && again.epoch === undefined)
  })

  test('is followed over several epochs that the agent has slept through', async () => {
    const log = new WitnessedLog()
    const witness = await known(log)
    for (let count = 0; count < 3; count += 1) log.beginEpoch(log.checkpoint).append(2)
    const finding = await look(witness, log, 100)
    assert.ok(finding.kind === 'good')
    assert.equal(finding.epoch?.origin, 'cartorio/vault/4')
  })

  test('is followed from each log that comes from a backup, when the backup is restored again', async () => {
    const log = new WitnessedLog()
    const slept = await known(log)
    const backup = log.backUp()
    const first = log.append(20).checkpoint
    log.restore(backup, [first]).append(3)
    const awake = goodOf(await look(slept, log, 100))
    const second = log.append(7).checkpoint
    log.restore(backup, [second, first]).append(2)
    for (const witness of [slept, awake]) {
      const finding = await look(witness, log, 200)
      goodOf(finding)
      assert.ok(finding.kind === 'good')
      assert.deepEqual([finding.epoch?.origin, finding.epoch?.size], ['cartorio/vault/3', 400])
    }
  })

  test('is followed from the log of an earlier backup, when a later backup is restored', async () => {
    const log = new WitnessedLog()
    const slept = await known(log)
    const early = log.backUp()
    const late = log.append(20).backUp()
    log.restore(early, [log.checkpoint]).append(30)
    const awake = goodOf(await look(slept, log, 100))
    log.restore(late, [log.checkpoint], early.records.length).append(2)
    const [ofSlept, ofAwake] = [await look(slept, log, 200), await look(awake, log, 200)]
    assert.ok(ofSlept.kind === 'good' && ofAwake.kind === 'good')
    assert.deepEqual([ofSlept.epoch?.size, ofAwake.epoch?.size], [420, 400])
    goodOf(await look(goodOf(ofAwake), log.append(9), 300))
  })

  test('is an alarm when the second restore knows nothing of the log that the first one began', async () => {
    const log = new WitnessedLog()
    const slept = await known(log)
    const backup = log.backUp()
    const first = log.append(20).checkpoint
    log.restore(backup, [first]).append(3)
    const awake = goodOf(await look(slept, log, 100))
    log.restore(backup, [first]).append(2)
    reasonOf(await look(awake, log, 200))
  })

  test('is an alarm when a restore admits less than the agent saw of the log that the one before began', async () => {
    const log = new WitnessedLog()
    const slept = await known(log)
    const backup = log.backUp()
    log.restore(backup, []).append(3)
    const early = log.checkpoint
    const awake = goodOf(await look(slept, log.append(4), 100))
    log.restore(backup, [early])
    assert.equal(
      reasonOf(await look(awake, log, 200)),
      'of the log that ended: the log has 403 entries, and had 407',
    )
  })

  test('is an alarm when the hub does not admit entries that the agent saw', async () => {
    const log = new WitnessedLog()
    const witness = await known(log)
    log
      .rewrite((records) => records.slice(0, 350))
      .beginEpoch()
      .append(100)
    assert.equal(
      reasonOf(await look(witness, log, 100)),
      'of the log that ended: the log has 350 entries, and had 400',
    )
  })

  test('is an alarm when entries were dropped before it began', async () => {
    const log = new WitnessedLog()
    const witness = await known(log)
    const lastKnown = log.append(20).checkpoint
    log
      .rewrite((records) => records.slice(0, 350).toSpliced(100, 10))
      .beginEpoch(lastKnown)
      .append(100)
    assert.equal(
      reasonOf(await look(witness, log, 100)),
      'the log does not go on from what the agent has seen',
    )
  })

  test('is an alarm when another key signs for it', async () => {
    const log = new WitnessedLog()
    const witness = await known(log)
    log.replaceKey().beginEpoch(log.checkpoint)
    assert.equal(
      reasonOf(await look(witness, log, 100)),
      'the checkpoint is not signed with the key of the log',
    )
  })
})
