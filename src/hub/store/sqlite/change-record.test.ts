import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { newAgent } from '../../../../test/store/store-samples.ts'
import { Secret } from '../../../platform/secret.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import type { ChangeRecord, RecordedStatement } from './change-record.ts'
import { formatChangeRecord, parseChangeRecord } from './change-record-form.ts'
import { createDatabase, openWriter } from './encrypted-database.ts'
import { GroupCommit } from './group-commit.ts'
import { replayChanges } from './replay-changes.ts'
import { SqlSession } from './sql-session.ts'

const parameter = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
  fc.constant(null),
  fc.uint8Array().map((bytes) => Buffer.from(bytes)),
)
const statement: fc.Arbitrary<RecordedStatement> = fc.record(
  {
    sql: fc.constantFrom('UPDATE a', 'INSERT INTO b', 'DELETE FROM c'),
    rowsChanged: fc.nat(),
    parameters: fc.oneof(
      fc.array(parameter),
      fc
        .dictionary(fc.string(), parameter, { noNullPrototype: true })
        .map((names) => [names] as const),
    ),
  },
  { noNullPrototype: true },
)
const record: fc.Arbitrary<ChangeRecord> = fc.record(
  {
    statements: fc.array(statement),
    agents: fc.oneof(
      fc.constant('all agents' as const),
      fc.array(fc.uuid().map((id) => id as AgentId)),
    ),
  },
  { noNullPrototype: true },
)

test('a record of changes is read as it was written', () => {
  fc.assert(
    fc.property(record, (written) => {
      assert.deepEqual(parseChangeRecord(formatChangeRecord(written)), written)
    }),
  )
})

describe('the journal of changes', () => {
  test('has what each transaction did, without what was taken back', async () => {
    await using database = await openDatabase()
    const records: ChangeRecord[] = []
    const commits = new GroupCommit(database.connection, {
      journal: { append: async (changes) => void records.push(changes) },
    })
    const [kept, other, refused] = [newAgent('web-1'), newAgent('web-2'), newAgent('web-3')]
    const outcomes = await Promise.allSettled([
      commits.write((writer) => writer.insertAgent(kept)),
      commits.write(async (writer) => {
        await writer.insertAgent(refused)
        throw new Error('taken back')
      }),
      commits.write((writer) => writer.setAgentSeen(kept.id, new Date(0))),
      commits.write((writer) => writer.insertAgent(other)),
      commits.write((writer) => writer.findAgentById(kept.id)),
    ])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
    )
    assert.equal(await commits.write(async () => 'nothing'), 'nothing')
    assert.equal(records.length, 1, 'what changes nothing is no record')
    const [only] = records
    assert.equal(only?.statements.length, 3)
    for (const { id } of [kept, other]) assert.ok(only?.agents.includes(id))
    await using copy = await openDatabase()
    const session = new SqlSession(copy.connection)
    if (only !== undefined) replayChanges(session, only)
    assert.deepEqual(session.column('SELECT hostname FROM agentes ORDER BY hostname'), [
      'web-1',
      'web-2',
    ])
  })

  test('that cannot take a transaction lets nothing of it be there', async () => {
    await using database = await openDatabase()
    let isBroken = true
    const commits = new GroupCommit(database.connection, {
      journal: { append: () => (isBroken ? Promise.reject(new Error('away')) : Promise.resolve()) },
    })
    const insert = () => commits.write((writer) => writer.insertAgent(newAgent('web-1')))
    await assert.rejects(insert(), { code: 'store_unavailable' })
    const session = new SqlSession(database.connection)
    assert.deepEqual(session.all('SELECT * FROM agentes'), [])
    isBroken = false
    await insert()
    assert.equal(session.all('SELECT * FROM agentes').length, 1)
  })

  test('is not followed by a copy in which something else is', async () => {
    await using copy = await openDatabase()
    const session = new SqlSession(copy.connection)
    const changes: ChangeRecord = {
      agents: 'all agents',
      statements: [{ sql: 'UPDATE agentes SET role = ?', parameters: ['db'], rowsChanged: 1 }],
    }
    assert.throws(() => replayChanges(session, changes), {
      code: 'store_diverged',
      message:
        'the copy is not what it was copied from: a statement changed 1 rows there and 0 here',
    })
  })
})

async function openDatabase() {
  const directory = await mkdtemp(join(tmpdir(), 'changes-'))
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
