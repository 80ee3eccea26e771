import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { propertyRuns } from '../../../../test/support/property.ts'
import { openSharingStores } from '../../../../test/support/temporary-store.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import type { ChangeRecord, RecordedStatement } from './change-record.ts'
import { positionAfter } from '../record-seal.ts'
import { formatChangeRecord, parseChangeRecord } from './change-record-form.ts'

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
    news: fc.array(
      fc.record(
        {
          agents: fc.array(fc.uuid().map((id) => id as AgentId)),
          revoked: fc.uuid().map((id) => id as AgentId),
          areRootsChanged: fc.constant(true as const),
        },
        { requiredKeys: [], noNullPrototype: true },
      ),
    ),
  },
  { noNullPrototype: true },
)

test('a record of changes is read as it was written', () => {
  fc.assert(
    fc.property(record, (written) => {
      assert.deepEqual(parseChangeRecord(formatChangeRecord(written)), written)
    }),
    propertyRuns<[ChangeRecord]>(100),
  )
})

test('[JRN-2] a database in which something else is does not follow', async () => {
  await using stores = await openSharingStores(1)
  const [store] = stores.all
  const changes: ChangeRecord = {
    agents: 'all agents',
    news: [],
    statements: [{ sql: 'UPDATE agentes SET role = ?', parameters: ['db'], rowsChanged: 1 }],
  }
  const { end } = stores.journal
  const sealed = stores.seal.seal(end, formatChangeRecord(changes))
  const turn = await stores.journal.takeTurn()
  await turn.append(sealed, positionAfter(end, sealed))
  await assert.rejects(async () => store?.follow(), {
    code: 'store_diverged',
    message: 'the copy is not what it was copied from: a statement changed 1 rows there and 0 here',
  })
})
