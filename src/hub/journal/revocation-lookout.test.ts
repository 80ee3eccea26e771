import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { MemoryJournal } from '../../../test/fakes/memory-journal.ts'
import { newAgent } from '../../../test/store/store-samples.ts'
import { openSharingStores, type SharingStores } from '../../../test/support/temporary-store.ts'
import type { Agent } from '../domain/agent.ts'
import type { AgentId } from '../../protocol/identifiers.ts'
import type { Journal, JournalPosition, JournalRecord } from '../store/journal.ts'
import { StoreError } from '../store/store-error.ts'
import type { SqliteStore } from '../store/sqlite/sqlite-store.ts'
import { RevocationLookout } from './revocation-lookout.ts'

const STEP_MS = 50

/** A hub's own way to the journal, on which the reply to a COMMIT may be missing. */
class OwnJournal implements Journal {
  readonly #journal: MemoryJournal
  #reply: Promise<void> = Promise.resolve()
  /** Whether the journal takes a record whose reply is missing. */
  takes = true

  constructor(journal: MemoryJournal) {
    this.#journal = journal
  }

  hold(): () => void {
    let answer = (): void => undefined
    this.#reply = new Promise((resolve) => {
      answer = resolve
    })
    return answer
  }

  read(after: number) {
    return this.#journal.read(after)
  }

  async takeTurn() {
    const turn = await this.#journal.takeTurn()
    return {
      ...turn,
      append: async (record: JournalRecord, end: JournalPosition): Promise<void> => {
        const isTaken = this.takes
        if (isTaken) await turn.append(record, end)
        else await turn.release()
        await this.#reply
        if (!isTaken) throw new StoreError('store_unavailable', 'the journal has not taken it')
      },
    }
  }

  async close(): Promise<void> {
    await this.#journal.close()
  }
}

let journal: MemoryJournal
let own: OwnJournal
let stores: SharingStores
let here: SqliteStore
let there: SqliteStore
let revoked: AgentId[]
let nowMs: number
let followedAtMs: number
let reads: number
let stop: AbortController
let running: Promise<void>
let wake: (() => void) | undefined

beforeEach(async () => {
  journal = new MemoryJournal(randomBytes(32))
  own = new OwnJournal(journal)
  const ways: Journal[] = [own, journal]
  stores = await openSharingStores(2, {
    begin: journal.end,
    connect: () => ways.shift() ?? assert.fail(),
  })
  const [first, second] = stores.all
  assert.ok(first && second)
  here = first
  there = second
  revoked = []
  nowMs = 0
  followedAtMs = 0
  reads = 0
  stop = new AbortController()
  const lookout = new RevocationLookout({
    journal: {
      read: (after) => {
        reads += 1
        return journal.read(after)
      },
    },
    seal: stores.seal,
    committed: () => here.committedPosition,
    followedAtMs: () => followedAtMs,
    onRevoked: (id) => void revoked.push(id),
    clock: {
      sleep: (_ms, signal) =>
        new Promise((resolve) => {
          wake = resolve
          signal?.addEventListener('abort', () => resolve(), { once: true })
        }),
    },
    monotonicMs: () => nowMs,
  })
  running = lookout.run(stop.signal)
})
afterEach(async () => {
  stop.abort()
  await running
  await stores[Symbol.asyncDispose]()
})

async function pass(durationMs: number): Promise<void> {
  for (let left = durationMs; left > 0; left -= STEP_MS) {
    nowMs += STEP_MS
    wake?.()
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate)
  }
}

async function agentThere(): Promise<Agent> {
  const agent = newAgent('web-1')
  await there.write((writer) => writer.insertAgent(agent))
  await here.follow()
  return agent
}

const revokeThere = (agent: Agent): Promise<void> =>
  there.write(async (writer) => {
    await writer.updateAgent({ ...agent, revokedAt: new Date(1) })
    await writer.tellOthers({ revoked: agent.id })
  })

describe('a hub that cannot follow the journal', () => {
  for (const takes of [true, false]) {
    test(`[HUB-13] cuts off whom another one revokes while its own COMMIT, ${takes ? 'taken' : 'not taken'}, is not answered`, async () => {
      const agent = await agentThere()
      own.takes = takes
      const answer = own.hold()
      const writing = here.write((writer) => writer.insertAgent(newAgent('web-2')))
      for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate)
      await revokeThere(agent)
      await pass(700)
      assert.deepEqual(revoked, [agent.id], 'within a second')
      await pass(2000)
      assert.deepEqual(revoked, [agent.id], 'and once')
      assert.equal((await here.reader.findAgentById(agent.id))?.revokedAt, null, 'it is run later')
      own.takes = true
      answer()
      await writing
    })
  }

  test('[HUB-13] hears of it again when the journal was away', async () => {
    const agent = await agentThere()
    const answer = own.hold()
    const writing = here.write((writer) => writer.insertAgent(newAgent('web-2')))
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate)
    await revokeThere(agent)
    journal.mood = 'away'
    await pass(2000)
    assert.deepEqual(revoked, [])
    journal.mood = 'well'
    await pass(500)
    assert.deepEqual(revoked, [agent.id])
    answer()
    await writing
  })

  test('[HUB-13] reads nothing ahead while it follows by itself', async () => {
    const agent = await agentThere()
    await revokeThere(agent)
    for (let times = 0; times < 40; times += 1) {
      followedAtMs = nowMs
      await pass(250)
    }
    assert.deepEqual(revoked, [])
    assert.ok(reads <= 3, `${reads} looks in 10 s keep the connection open`)
  })
})
