import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { collectLog } from '../../test/support/collected-log.ts'
import { systemClock } from '../platform/clock.ts'
import type { AgentId } from '../protocol/identifiers.ts'
import { createOthersActs, type OthersActs } from './follow-others.ts'

const AGENT = 'agent-1' as AgentId
let told: string[]
let rootFaults: Error[]
let logs: ReturnType<typeof collectLog>
let stop: AbortController
let others: OthersActs
let run: Promise<void>

/** Until the agents were told so often; the test's own deadline ends it. */
const heard = async (count: number): Promise<void> => {
  while (told.length < count) await new Promise(setImmediate)
}

beforeEach(() => {
  told = []
  rootFaults = []
  logs = collectLog()
  stop = new AbortController()
  others = createOthersActs({
    streams: {
      announce: (agents) => void told.push(...agents),
      announceAll: () => void told.push('all'),
    },
    cutOff: (id) => void told.push(`cut ${id}`),
    followRoots: async () => {
      const fault = rootFaults.shift()
      if (fault !== undefined) throw fault
      told.push('roots')
    },
    wakeJobs: () => undefined,
    // A thousand times as fast.
    clock: {
      now: () => systemClock.now(),
      sleep: (durationMs, signal) => systemClock.sleep(durationMs / 1000, signal),
    },
    log: logs.log,
  })
  run = others.run(stop.signal)
})
afterEach(async () => {
  stop.abort()
  await run
})

describe('[HUB-7] what another hub did', { timeout: 10_000 }, () => {
  test('cuts connections and reaches agents', async () => {
    others.note([{ revoked: AGENT }, { agents: [AGENT] }])
    await heard(2)
    assert.deepEqual(told, [`cut ${AGENT}`, AGENT])
  })

  test('[HUB-8] reaches agents when its roots are in force here', async () => {
    others.note([{ areRootsChanged: true, isForAll: true }])
    await heard(2)
    assert.deepEqual(told, ['roots', 'all'])
  })

  test('[HUB-8] is tried again when its roots cannot be read, and keeps back nothing else', async () => {
    rootFaults = [new Error('disk I/O error'), new Error('disk I/O error')]
    others.note([
      { areRootsChanged: true, isForAll: true },
      { revoked: AGENT },
      { agents: [AGENT] },
    ])
    await heard(4)
    assert.deepEqual(told, [`cut ${AGENT}`, AGENT, 'roots', 'all'])
    assert.equal(logs.lines.length, 2)
  })
})
