import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Secret } from '../../../platform/secret.ts'
import type { EntryId } from '../../../protocol/identifiers.ts'
import type { AuditEntry } from '../../domain/audit-entry.ts'
import { appendEntry } from '../../service/append-entries.ts'
import type { StoreWriter } from '../store.ts'
import { type Connection, createDatabase, openWriter } from './encrypted-database.ts'
import { GroupCommit } from './group-commit.ts'

interface NewDatabase extends AsyncDisposable {
  readonly connection: Connection
}

async function openNewDatabase(): Promise<NewDatabase> {
  const directory = await mkdtemp(join(tmpdir(), 'commit-'))
  const path = join(directory, 'db.enc')
  const dataKey = new Secret(randomBytes(32))
  await createDatabase(path, dataKey)
  const connection = openWriter(path, dataKey)
  return {
    connection,
    async [Symbol.asyncDispose]() {
      connection.close()
      await rm(directory, { recursive: true })
    },
  }
}

let database: NewDatabase
beforeEach(async () => {
  database = await openNewDatabase()
})
afterEach(() => database[Symbol.asyncDispose]())

describe('group commit', () => {
  let connection: Connection
  let groupCommit: GroupCommit
  beforeEach(() => {
    connection = database.connection
    groupCommit = new GroupCommit(connection)
  })
  afterEach(() => groupCommit.close())

  test('a full disk rejects what has no room, leaves nothing of it, and is over when there is space', async () => {
    await groupCommit.write(append())
    connection.pragma('max_page_count = 1')
    const outcomes = await Promise.allSettled([
      groupCommit.write(append()),
      groupCommit.write(append(200_000)),
      groupCommit.write(append()),
    ])
    const [, large] = outcomes
    assert.equal(large.status, 'rejected')
    assert.equal((large.reason as { code: string }).code, 'store_unavailable')
    connection.pragma('max_page_count = 1000000')
    const acknowledged = outcomes.filter((outcome) => outcome.status === 'fulfilled').length
    const entry = await groupCommit.write(append(200_000))
    assert.equal(entry.seq, 1 + acknowledged + 1)
  })

  test('a commit that fails rejects every write of its batch, and the next batch is fine', async () => {
    const before = groupCommit.commits
    const broken = groupCommit.write(async (writer) => {
      // As after an I/O error: SQLite has rolled the whole transaction back by itself.
      connection.exec('ROLLBACK')
      await writer.pageAgents({ limit: 99 })
    })
    const first = groupCommit.write(append())
    for (const write of [broken, first]) await assert.rejects(write, { code: 'store_unavailable' })
    assert.equal(groupCommit.commits, before)
    assert.equal((await groupCommit.write(append())).seq, 1)
  })

  test('a write function that awaits something else is undone, and holds up nobody', async () => {
    const slow = groupCommit.write(async (writer) => {
      await append()(writer)
      await new Promise(() => {})
    })
    const other = groupCommit.write(append())
    await assert.rejects(slow, /a write function awaits nothing but its writer/)
    assert.equal((await other).seq, 1)
  })

  test('a writer is of no use after its write', async () => {
    let leaked: StoreWriter | undefined
    await groupCommit.write(async (writer) => {
      leaked = writer
    })
    assert.ok(leaked)
    await assert.rejects(append()(leaked), /a writer is used only inside its write function/)
  })

  test('[CHN-1] the audit log cannot be changed, not even by SQL', () => {
    connection.exec(`INSERT INTO eventos VALUES (1, 'i', NULL, 't', '{}', NULL, NULL,
      '2026-11-21T10:00:00.000000Z', printf('%064d', 0), printf('%064d', 1))`)
    for (const sql of [
      `UPDATE eventos SET payload = '{"a":1}'`,
      'DELETE FROM eventos',
      'REPLACE INTO eventos SELECT * FROM eventos',
    ]) {
      assert.throws(() => connection.exec(sql), /the audit log is append-only/, sql)
    }
  })

  test('writes queued while a batch runs are committed by the next one', async () => {
    const first = groupCommit.write(append())
    await nextTurn()
    const second = groupCommit.write(append())
    assert.deepEqual([(await first).seq, (await second).seq], [1, 2])
    assert.equal(groupCommit.commits, 2)
  })
})

describe('[RES-15] writes that wait for company', () => {
  const expecting = { isExpected: () => true }
  let groupCommit: GroupCommit
  let waits: (() => void)[]
  beforeEach(() => {
    waits = []
    const sleep = (durationMs: number): Promise<void> => {
      assert.equal(durationMs, 10)
      return new Promise((resolve) => waits.push(resolve))
    }
    groupCommit = new GroupCommit(database.connection, { clock: { sleep } })
  })
  afterEach(() => groupCommit.close())

  test('are committed together when the time is over, and the next one waits anew', async () => {
    const first = groupCommit.write(append(), expecting)
    await nextTurn()
    await nextTurn()
    const second = groupCommit.write(append(), expecting)
    await nextTurn()
    assert.deepEqual([waits.length, groupCommit.commits], [1, 0])
    waits[0]?.()
    await Promise.all([first, second])
    assert.equal(groupCommit.commits, 1)
    const third = groupCommit.write(append(), expecting)
    await nextTurn()
    assert.deepEqual([waits.length, groupCommit.commits], [2, 1])
    waits[1]?.()
    assert.equal((await third).seq, 3)
  })

  test('are committed with the first one that expects no other, or does not wait', async () => {
    for (const last of [{ isExpected: () => false }, undefined]) {
      const before = groupCommit.commits
      const first = groupCommit.write(append(), expecting)
      await nextTurn()
      await Promise.all([first, groupCommit.write(append(), last)])
      assert.equal(groupCommit.commits, before + 1)
    }
  })

  test('are committed before the store is closed', async () => {
    const first = groupCommit.write(append(), expecting)
    await nextTurn()
    await groupCommit.close()
    assert.equal((await first).seq, 1)
  })

  test('may come while a batch runs', async () => {
    const batch = groupCommit.write(async (writer) => {
      const entry = await append()(writer)
      void groupCommit.write(append(), expecting)
      return entry
    })
    assert.equal((await batch).seq, 1)
    await nextTurn()
    assert.deepEqual([waits.length, groupCommit.commits], [1, 1])
  })
})

function append(payloadLength = 2): (writer: StoreWriter) => Promise<AuditEntry> {
  return (writer) =>
    appendEntry(writer, {
      id: randomUUID() as EntryId,
      agentId: null,
      eventType: 't',
      payloadText: JSON.stringify('x'.repeat(payloadLength)),
      deliveryId: null,
      requestId: null,
      at: new Date('2026-11-21T10:00:00Z'),
    })
}
