import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { insertAgent, LATER, NOW } from '../../../../test/store/store-samples.ts'
import { collectLog, type CollectedLog } from '../../../../test/support/collected-log.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Store } from '../../store/store.ts'
import { createPollRecorder, type PollRecorder } from './record-polls.ts'

let store: Store & AsyncDisposable
let agent: Agent
let other: Agent
let now: Date
let sleep: Clock['sleep']
let collected: CollectedLog
let polls: PollRecorder
let count = 0

before(async () => {
  store = await openTemporaryStore()
})
after(() => store[Symbol.asyncDispose]())
beforeEach(async () => {
  count += 1
  agent = await insertAgent(store, `web-${count}`)
  other = await insertAgent(store, `db-${count}`)
  now = NOW
  collected = collectLog()
  polls = createOn(store)
})

function createOn(on: Store): PollRecorder {
  const clock: Clock = { now: () => now, sleep: (...waits) => sleep(...waits) }
  return createPollRecorder(on, clock, collected.log)
}

async function written({ id }: Agent): Promise<Date | undefined> {
  return (await store.reader.listLastPolls([id])).get(id)
}

describe('[MAN-5] a poll', () => {
  test('is known at once, and written with the others in one commit', async () => {
    const { version } = store
    polls.record(agent.id)
    now = LATER
    polls.record(agent.id)
    polls.record(other.id)
    assert.deepEqual([polls.lastPollAt(agent.id), polls.lastPollAt(other.id)], [LATER, LATER])
    assert.deepEqual([await written(agent), store.version], [undefined, version])
    await polls.flush()
    assert.deepEqual([await written(agent), await written(other)], [LATER, LATER])
    assert.equal(polls.lastPollAt(agent.id), undefined, 'the store knows it now')
    const { version: commits } = store
    await polls.flush()
    assert.equal(store.version, commits, 'and there is nothing to write')
  })

  test('that comes while others are being written is written next time', async () => {
    polls.record(agent.id)
    const flushed = polls.flush()
    now = LATER
    polls.record(agent.id)
    await flushed
    assert.deepEqual(await written(agent), NOW)
    await polls.flush()
    assert.deepEqual(await written(agent), LATER)
  })
})

describe('[MAN-5] in the background', () => {
  test('polls are written every five seconds, and once more at the end', async () => {
    const stop = new AbortController()
    const waits: number[] = []
    sleep = async (durationMs) => {
      waits.push(durationMs)
      if (waits.length > 1) assert.deepEqual(await written(agent), LATER)
      now = LATER
      polls.record(agent.id)
      if (waits.length < 3) return
      polls.record(other.id)
      stop.abort()
      throw new Error('aborted')
    }
    await polls.run(stop.signal)
    assert.deepEqual(waits, [5000, 5000, 5000])
    assert.deepEqual(await written(other), LATER)
  })

  test('a store that fails is no end of it: the log says so, and later polls are written', async () => {
    const stop = new AbortController()
    let writes = 0
    polls = createOn({
      ...store,
      write: async (work) => {
        if ((writes += 1) === 1) throw new Error('no disk')
        return store.write(work)
      },
    })
    let rounds = 0
    sleep = async () => {
      polls.record(rounds === 0 ? agent.id : other.id)
      if ((rounds += 1) === 2) stop.abort()
    }
    await polls.run(stop.signal)
    assert.deepEqual([await written(agent), await written(other)], [undefined, NOW])
    assert.deepEqual(
      collected.lines.map(({ level, message }) => [level, message]),
      [['warn', 'Poll times not stored']],
    )
  })
})
