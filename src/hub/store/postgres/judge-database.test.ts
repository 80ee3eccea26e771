import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type DatabaseFacts,
  type DatabaseLook,
  type DatabaseReplication,
  judgeDatabase,
} from './judge-database.ts'

const SOUND: DatabaseFacts = {
  host: 'db1:5432',
  user: 'svc',
  settings: {
    server_version: '15.18',
    server_version_num: '150018',
    statement_timeout: '5000',
    lock_timeout: '5000',
    idle_in_transaction_session_timeout: '2000',
    default_transaction_isolation: 'read committed',
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    synchronous_standby_names: 'ANY 1 (db2, db3)',
  },
  clockAheadMs: 0,
  schema: 'public',
  mayCreateTables: true,
}

function judge(changes: Partial<DatabaseFacts>, replication?: DatabaseReplication): string[] {
  return judgeLook({ kind: 'seen', facts: { ...SOUND, ...changes } }, replication)
}

function judgeLook(look: DatabaseLook, replication: DatabaseReplication = 'standby'): string[] {
  return judgeDatabase(look, replication).map(
    ({ fault, status, message }) => `${status} ${fault}: ${message}`,
  )
}

const set = (name: string, value: string): Partial<DatabaseFacts> => ({
  settings: { ...SOUND.settings, [name]: value },
})

describe('[DBS-7] of a database a hub', () => {
  test('takes one that is sound', () => {
    assert.deepEqual(judge({}), [])
    assert.deepEqual(judge(set('server_version_num', '180001')), [])
    assert.deepEqual(judge(set('synchronous_commit', 'remote_apply')), [])
  })

  test('refuses what is not reached, or pooled', () => {
    assert.deepEqual(judgeLook({ kind: 'unreachable', reason: 'db1:5432: ECONNREFUSED' }), [
      'failed unreachable: db1:5432: ECONNREFUSED',
    ])
    assert.deepEqual(judgeLook({ kind: 'pooled' }), [
      'failed pooled: transaction pooling in front of the database: connect directly',
    ])
  })

  test('refuses a server older than 15', () => {
    const settings = {
      ...SOUND.settings,
      server_version: '14.20 (Debian 14.20-1)',
      server_version_num: '140020',
    }
    assert.deepEqual(judge({ settings }), [
      'failed version: db1:5432 is PostgreSQL 14.20 (Debian 14.20-1): the hub needs 15 or later',
    ])
    const { server_version: _version, server_version_num: _number, ...unnamed } = SOUND.settings
    assert.match(judge({ settings: unnamed })[0] ?? '', /^failed version: /)
  })

  test('refuses what loses or damages what was acknowledged', () => {
    assert.deepEqual(judge(set('fsync', 'off')), [
      'failed fsync: fsync is off: a crash loses what the database has acknowledged',
    ])
    assert.deepEqual(judge(set('full_page_writes', 'off')), [
      'failed full_page_writes: full_page_writes is off: a crash can damage pages of the database',
    ])
    for (const value of ['off', 'local', 'remote_write']) {
      assert.deepEqual(judge(set('synchronous_commit', value)), [
        `failed synchronous_commit: synchronous_commit is ${value}, though the hub asks for on: a crash loses what the database has acknowledged`,
      ])
    }
  })

  test('warns of one without a synchronous standby, unless its engine keeps copies', () => {
    const alone = set('synchronous_standby_names', '')
    assert.deepEqual(judge(alone), [
      'warning no_standby: synchronous_standby_names is empty: a failover loses what the database has acknowledged',
    ])
    assert.deepEqual(judge(alone, 'engine'), [])
    assert.equal(judge(set('fsync', 'off'), 'engine').length, 1)
  })

  test('refuses a session that is not as it asked for', () => {
    assert.deepEqual(judge(set('lock_timeout', '0')), [
      'failed session_altered: something in front of the database drops what the hub asks of its session (lock_timeout): connect directly',
    ])
    assert.equal(judge(set('default_transaction_isolation', 'serializable')).length, 1)
  })

  test('warns of a clock that is 2 s off, and refuses one that is 30 s off', () => {
    for (const [clockAheadMs, found] of [
      [2000, []],
      [-2000, []],
      [2600, ['warning clock: the clock of the database is 3s ahead of the hub’s']],
      [-30_000, ['warning clock: the clock of the database is 30s behind the hub’s']],
      [30_600, ['failed clock: the clock of the database is 31s ahead of the hub’s']],
      [-7_200_000, ['failed clock: the clock of the database is 2h behind the hub’s']],
    ] as const) {
      assert.deepEqual(judge({ clockAheadMs }), found)
    }
  })

  test('refuses one in which it may make no tables', () => {
    assert.deepEqual(judge({ mayCreateTables: false }), [
      'failed rights: svc may make no tables in the schema public',
    ])
    assert.deepEqual(judge({ mayCreateTables: false, schema: undefined }), [
      'failed rights: the search_path of svc leads to no schema',
    ])
  })
})
