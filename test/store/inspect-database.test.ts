// What a hub finds of a real PostgreSQL, and of a PgBouncer in front of it: docs/protocol.md DBS-6 to DBS-9.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { findDatabaseFaults } from '../../src/hub/find-database-faults.ts'
import type { DatabaseReplication } from '../../src/hub/store/postgres/judge-database.ts'
import {
  type DatabaseServers,
  WritableConnection,
} from '../../src/hub/store/postgres/writable-connection.ts'
import { postgresProgram, skipUnlessRunnable } from '../services/support/required-programs.ts'
import { startPgbouncer } from '../support/pgbouncer.ts'
import { type Postgresql, startPostgresql } from '../support/postgresql.ts'
import { runSvcHere } from '../support/run-svc.ts'
import { waitUntil } from '../support/processes.ts'

const DROPPED = 'options,statement_timeout,lock_timeout,idle_in_transaction_session_timeout'
const PROGRAMS = [postgresProgram('postgres'), 'pgbouncer']

describe('a database that a hub looks at', { skip: skipUnlessRunnable(PROGRAMS) }, () => {
  let server: Postgresql
  before(async () => {
    server = await startPostgresql()
  })
  after(async () => {
    await server[Symbol.asyncDispose]()
  })

  /** `status fault` of each finding. */
  async function look(
    servers: DatabaseServers,
    changes: { readonly aheadMs?: number; readonly replication?: DatabaseReplication } = {},
  ): Promise<string[]> {
    const { findings } = await findDatabaseFaults(servers, {
      now: () => new Date(Date.now() + (changes.aheadMs ?? 0)),
      replication: changes.replication ?? 'engine',
      signal: AbortSignal.timeout(10_000),
    })
    return findings.map(({ fault, status }) => `${status} ${fault}`)
  }

  /** `name` has this value meanwhile, in sessions that begin then. */
  async function withSetting(
    name: string,
    value: string,
    work: () => Promise<void>,
  ): Promise<void> {
    const [earlier] = await server.query(`SELECT current_setting('${name}') AS value`)
    const isNow = async (wanted: unknown): Promise<void> => {
      await server.query('SELECT pg_reload_conf()')
      await waitUntil(`${name} to be ${String(wanted)}`, async () => {
        const [row] = await server.query(`SELECT current_setting('${name}') AS value`)
        return (row as { value: unknown }).value === wanted || undefined
      })
    }
    await server.query(`ALTER SYSTEM SET ${name} = '${value}'`)
    await isNow(value)
    try {
      await work()
    } finally {
      await server.query(`ALTER SYSTEM RESET ${name}`)
      await isNow((earlier as { value: unknown }).value)
    }
  }

  test('[DBS-7] is taken as it comes, with a warning that it has no synchronous standby', async () => {
    assert.deepEqual(await look(server.servers), [])
    assert.deepEqual(await look(server.servers, { replication: 'standby' }), ['warning no_standby'])
    await withSetting('synchronous_standby_names', 'FIRST 1 (db2)', async () => {
      assert.deepEqual(await look(server.servers, { replication: 'standby' }), [])
    })
  })

  test('[DBS-7] is refused where a crash of it loses anything', async () => {
    for (const name of ['fsync', 'full_page_writes']) {
      await withSetting(name, 'off', async () => {
        assert.deepEqual(await look(server.servers), [`failed ${name}`])
      })
    }
  })

  test('[DBS-6] keeps the session as the hub asks for it, whatever its defaults are', async () => {
    await server.query('ALTER ROLE svc SET synchronous_commit = off')
    await server.query("ALTER ROLE svc SET lock_timeout = '1h'")
    await server.query('ALTER ROLE svc SET default_transaction_isolation = serializable')
    assert.deepEqual(await look(server.servers), [])
    await server.query('ALTER ROLE svc RESET ALL')
  })

  test('[DBS-7] is held against the hub’s clock', async () => {
    assert.deepEqual(await look(server.servers, { aheadMs: 10_000 }), ['warning clock'])
    assert.deepEqual(await look(server.servers, { aheadMs: -60_000 }), ['failed clock'])
  })

  test('[DBS-7] has to let the hub make tables', async () => {
    await server.query('CREATE ROLE guest LOGIN')
    const guest = { ...server.servers, user: 'guest' }
    assert.deepEqual(await look(guest), ['failed rights'])
    await server.query('CREATE SCHEMA AUTHORIZATION guest')
    assert.deepEqual(await look(guest), [])
  })

  test('[DBS-7] that does not answer, or not in time, is no wait without end', async () => {
    const closed = { ...server.servers, hosts: [{ host: '127.0.0.1', port: 1 }] }
    assert.deepEqual(await look(closed), ['failed unreachable'])
    server.kill('SIGSTOP')
    try {
      const startMs = performance.now()
      const hosts = Array.from({ length: 8 }, () => server.servers.hosts).flat()
      const { findings } = await findDatabaseFaults(
        { ...server.servers, hosts },
        { now: () => new Date(), replication: 'engine', signal: AbortSignal.timeout(200) },
      )
      assert.deepEqual(findings, [
        {
          fault: 'unreachable',
          status: 'failed',
          message: 'the database does not answer in time',
        },
      ])
      assert.ok(performance.now() - startMs < 1000)
    } finally {
      server.kill('SIGCONT')
    }
    assert.deepEqual(await look(server.servers), [])
  })

  for (const [how, settings] of [
    ['as it comes', {}],
    ['that drops what it does not know', { ignore_startup_parameters: DROPPED }],
    ['of one server', { ignore_startup_parameters: DROPPED, default_pool_size: '1' }],
    [
      'that takes its servers in turn',
      { ignore_startup_parameters: DROPPED, server_round_robin: '1', min_pool_size: '3' },
    ],
    ['that pools statements', { ignore_startup_parameters: DROPPED, pool_mode: 'statement' }],
  ] as const) {
    test(`[DBS-8] behind a transaction pooler ${how} is refused`, async () => {
      await using pooler = await startPgbouncer(server.servers, {
        pool_mode: 'transaction',
        ...settings,
      })
      // Also when its pool is warm.
      for (let times = 0; times < 3; times += 1) {
        assert.deepEqual(await look(pooler.servers), ['failed pooled'])
      }
    })
  }

  test('[DBS-8] behind a transaction pooler that has two servers, and takes them in turn, is refused', async () => {
    await using pooler = await startPgbouncer(server.servers, {
      pool_mode: 'transaction',
      ignore_startup_parameters: DROPPED,
      server_round_robin: '1',
      default_pool_size: '2',
    })
    using one = await WritableConnection.open(pooler.servers)
    using other = await WritableConnection.open(pooler.servers)
    for (const each of [one, other]) await each.query('BEGIN')
    for (const each of [one, other]) await each.query('COMMIT')
    for (let times = 0; times < 3; times += 1) {
      assert.deepEqual(await look(pooler.servers), ['failed pooled'])
    }
  })

  test('[DBS-8] behind a session pooler is refused for what that drops', async () => {
    await using pooler = await startPgbouncer(server.servers, {
      pool_mode: 'session',
      ignore_startup_parameters: DROPPED,
    })
    await server.query('ALTER ROLE svc SET synchronous_commit = off')
    assert.deepEqual(await look(pooler.servers), [
      'failed session_altered',
      'failed synchronous_commit',
    ])
    await server.query('ALTER ROLE svc RESET synchronous_commit')
  })

  test('[DBS-9] [DOC-28] is a finding of svc doctor', async () => {
    const port = server.servers.hosts[0]?.port
    const { stdout } = await runSvcHere(['doctor'], {
      SVC_MASTER_PASSPHRASE: 'a passphrase of the test',
      SVC_CA_URL: 'https://127.0.0.1:1',
      SVC_CA_PROVISIONER_KID: 'k',
      SVC_CA_PROVISIONER_KEY: '{}',
      SVC_CA_ROOT_CA_PATH: '/none',
      SVC_VAULT_ROOT: server.directory,
      SVC_DATABASE_URL: `postgresql://svc@127.0.0.1:${port}/postgres`,
    })
    assert.match(
      stdout,
      /^warning +database +synchronous_standby_names is empty: a failover loses what/m,
    )
  })
})
