// No query can be forgotten: each method of the port is called on tables that are full, and every statement that it runs
// is looked at. A method that answers, or changes, many rows may cost as much; any other costs next to nothing.

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import Database from 'better-sqlite3-multiple-ciphers'
import { fillTables } from '../../../../test/support/filled-tables.ts'
import { measureSlowness } from '../../../../test/support/machine-slowness.ts'
import { type PortCall, READER_CALLS, UNBOUNDED } from '../../../../test/support/reader-calls.ts'
import { PASSKEY_CALLS } from '../../../../test/support/passkey-calls.ts'
import { SESSION_CALLS } from '../../../../test/support/session-calls.ts'
import { ROLLOUT_CALLS } from '../../../../test/support/rollout-calls.ts'
import { SUMMARY_CALLS } from '../../../../test/support/summary-calls.ts'
import {
  DECLARED_CALLS,
  WEBHOOK_CALLS,
  WRITER_CALLS,
} from '../../../../test/support/writer-calls.ts'
import { countHosts } from './agent-labels.ts'
import type { Connection } from './encrypted-database.ts'
import { MIGRATIONS } from './migrations.ts'
import { SqlSession } from './sql-session.ts'
import { SqliteDeclaredReader, SqliteDeclaredWriter } from './sqlite-declared.ts'
import { SqliteEntryReader } from './sqlite-entry-reader.ts'
import { SqliteJoinReader } from './sqlite-join-reader.ts'
import { SqliteOperatorReader } from './sqlite-operator-reader.ts'
import { SqlitePasskeyReader, SqlitePasskeyWriter } from './sqlite-passkeys.ts'
import { SqliteSessionReader, SqliteSessionWriter } from './sqlite-sessions.ts'
import { SqliteListReader } from './sqlite-list-reader.ts'
import { SqliteReader } from './sqlite-reader.ts'
import { SqliteRolloutReader, SqliteRolloutWriter } from './sqlite-rollouts.ts'
import { SqliteSummaryReader } from './sqlite-summary.ts'
import { SqliteWebhookReader, SqliteWebhookWriter } from './sqlite-webhooks.ts'
import { SqliteWriter } from './sqlite-writer.ts'

const ROWS = 30_000
/** One that walks through a table of so many rows takes several times as long, one that uses its index a tenth. */
const CALL_CPU_MS_MAX = 1
const CPU_MS_MAX_PER_ROW = 0.1
const ANSWERED_ROWS_MAX = 100
/** The least of them counts: a machine that does something else beside it makes all but a few dearer. */
const ATTEMPTS = 25

const STORE_CALLS = { ...READER_CALLS, ...WRITER_CALLS, ...DECLARED_CALLS }

describe('on tables that are full', () => {
  const connection = new Database(':memory:')
  before(() => {
    for (const { sql } of MIGRATIONS) connection.exec(sql)
    connection.pragma('foreign_keys = ON')
    connection.pragma('recursive_triggers = ON')
    fillTables(connection, ROWS)
  })

  test('each method of the port has a call, and each exemption is one of them', () => {
    assert.deepEqual(
      methodsOf(
        SqliteDeclaredReader,
        SqliteDeclaredWriter,
        SqliteEntryReader,
        SqliteJoinReader,
        SqliteListReader,
        SqliteOperatorReader,
        SqliteReader,
        SqliteWriter,
      ).filter((name) => !(name in STORE_CALLS)),
      [],
    )
    assert.deepEqual(
      methodsOf(SqliteWebhookReader, SqliteWebhookWriter).filter(
        (name) => !(name in WEBHOOK_CALLS),
      ),
      [],
    )
    assert.deepEqual(
      methodsOf(SqliteRolloutReader, SqliteRolloutWriter).filter(
        (name) => !(name in ROLLOUT_CALLS),
      ),
      [],
    )
    assert.deepEqual(
      methodsOf(SqlitePasskeyReader, SqlitePasskeyWriter).filter(
        (name) => !(name in PASSKEY_CALLS),
      ),
      [],
    )
    assert.deepEqual(
      methodsOf(SqliteSessionReader, SqliteSessionWriter).filter(
        (name) => !(name in SESSION_CALLS),
      ),
      [],
    )
    assert.deepEqual(
      methodsOf(SqliteSummaryReader).filter((name) => !(name in SUMMARY_CALLS)),
      [],
    )
    const names = new Set(
      [
        STORE_CALLS,
        WEBHOOK_CALLS,
        ROLLOUT_CALLS,
        PASSKEY_CALLS,
        SESSION_CALLS,
        SUMMARY_CALLS,
      ].flatMap((calls) => Object.keys(calls)),
    )
    assert.deepEqual(
      Object.keys(UNBOUNDED).filter((name) => !names.has(name)),
      [],
    )
    assert.ok(Object.keys(STORE_CALLS).length + Object.keys(WEBHOOK_CALLS).length >= 90)
  })

  const subPorts = Object.entries({
    rollouts: ROLLOUT_CALLS,
    passkeys: PASSKEY_CALLS,
    sessions: SESSION_CALLS,
    summary: SUMMARY_CALLS,
    webhooks: WEBHOOK_CALLS,
  }).flatMap(([port, calls]) =>
    Object.entries(calls).map(([name, each]) => [`${port}.${name}`, each] as const),
  )
  for (const [title, calls] of [...Object.entries(STORE_CALLS), ...subPorts]) {
    const name = title.replace(/^\w+\./, '')
    test(`${title} uses indexes, and costs no more than what it answers or changes`, async () => {
      assert.ok(calls.length > 0)
      for (const call of calls) await assertCheap(connection, name, call)
    })
  }

  test('hosts of a label are counted from an index alone', () => {
    const texts = new Set<string>()
    const recording = { texts, rows: 0, changes: 0 }
    const session = new SqlSession(recordingTo(recording, connection))
    for (const index of [
      { by: 'label', key: 'env', value: 'prod' },
      { by: 'label', key: 'env', value: undefined },
    ] as const) {
      texts.clear()
      assert.equal(countHosts(session, index, 100), 100)
      const sql = [...texts].find((text) => text.includes('LIMIT')) ?? ''
      const plan = connection.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...nothingFor(sql)) as {
        detail: string
      }[]
      const searches = plan.filter(({ detail }) => detail.startsWith('SEARCH'))
      assert.equal(searches.length, 1, sql)
      assert.match(searches[0]?.detail ?? '', /USING COVERING INDEX/, sql)
    }
  })

  test('with statistics the planner chooses no worse', async () => {
    connection.exec('ANALYZE')
    for (const [name, calls] of Object.entries(STORE_CALLS)) {
      for (const call of calls) await assertCheap(connection, name, call)
    }
  })
})

async function assertCheap(connection: Connection, name: string, call: PortCall): Promise<void> {
  if (name in UNBOUNDED) return
  const { texts, cpuMs, rows, changes } = await measure(connection, call)
  assert.ok(texts.length > 0, `${name} asks the database`)
  assert.ok(rows <= ANSWERED_ROWS_MAX, `${name} answers ${rows} rows`)
  for (const sql of texts.filter((text) => !text.startsWith('PRAGMA'))) {
    assertPlan(connection, sql)
    if (!connection.prepare(sql).readonly) assertRepeatable(sql)
  }
  const cpuMsMax = CALL_CPU_MS_MAX + (rows + changes) * CPU_MS_MAX_PER_ROW
  if (cpuMs <= cpuMsMax) return
  const slowness = measureSlowness()
  assert.ok(
    cpuMs <= cpuMsMax * slowness,
    `${name}: ${cpuMs} ms, the machine ${slowness.toFixed(1)} times as slow: ${texts.join('; ')}`,
  )
}

function assertPlan(connection: Connection, sql: string): void {
  const plan = connection.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...nothingFor(sql)) as {
    detail: string
  }[]
  for (const { detail } of plan) {
    // Planned for the rows that lack their agent, or carga, and taken only while a foreign key is violated; the CPU time tells.
    if (sql.startsWith('INSERT INTO agentes (') && detail === 'SCAN certificados') continue
    if (sql.startsWith('INSERT INTO cargas (') && detail === 'SCAN rollouts') continue
    if (
      // Of `agentes_por_quarto` these tables fill one row; it has one for each quarter of an hour in which a certificate ends.
      /^SCAN (?!json_each|atores|wanted|assuntos VIRTUAL|par|anteriores|cadeia|mudancas|agentes_por_quarto|CONSTANT ROW|\(subquery)/.test(
        detail,
      )
    ) {
      // The end of a table is one row, however long it is.
      assert.match(sql, /ORDER BY (seq|epoca DESC, numero) DESC LIMIT 1$/, `${detail}: ${sql}`)
    }
    assert.doesNotMatch(detail, /AUTOMATIC/, sql)
  }
}

/** A copy runs what changed rows once more (change-record.ts), and has to come to the same. */
function assertRepeatable(sql: string): void {
  assert.doesNotMatch(
    sql,
    /random|CURRENT_|'now'|\b(?:date|time|datetime|julianday|unixepoch|strftime|changes|last_insert_rowid)\(/i,
  )
  const limits = sql.match(/LIMIT/g)?.length ?? 0
  assert.equal(
    sql.match(/ORDER BY [\w ,]+ LIMIT/g)?.length ?? 0,
    limits,
    `an order for each limit: ${sql}`,
  )
}

interface Measured {
  readonly texts: readonly string[]
  readonly cpuMs: number
  /** Answered. */
  readonly rows: number
  readonly changes: number
}

/** The least CPU of a few attempts, each taken back. */
async function measure(connection: Connection, call: PortCall): Promise<Measured> {
  const recording: Recording = { texts: new Set(), rows: 0, changes: 0 }
  const session = new SqlSession(recordingTo(recording, connection))
  const writer = new SqliteWriter(() => session)
  let cpuMs = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    connection.exec('BEGIN')
    recording.rows = 0
    recording.changes = 0
    const startCpu = process.cpuUsage()
    try {
      await call(writer)
    } finally {
      const { user, system } = process.cpuUsage(startCpu)
      cpuMs = Math.min(cpuMs, (user + system) / 1000)
      connection.exec('ROLLBACK')
    }
  }
  const { texts, rows, changes } = recording
  return { texts: [...texts], cpuMs, rows, changes }
}

interface Recording {
  readonly texts: Set<string>
  rows: number
  changes: number
}

/** The connection, with what its statements say and do noted down. */
function recordingTo(recording: Recording, connection: Connection): Connection {
  return replacing(connection, 'prepare', (sql: string) => {
    recording.texts.add(sql)
    const statement = connection.prepare(sql)
    const noted = replacing(statement, 'all', (...parameters: never[]) => {
      const found = statement.all(...parameters)
      recording.rows += found.length
      return found
    })
    return replacing(noted, 'run', (...parameters: never[]) => {
      const result = statement.run(...parameters)
      recording.changes += result.changes
      return result
    })
  })
}

/** What SQLite makes takes its own methods alone: others are bound to it. */
function replacing<T extends object>(target: T, name: string, method: unknown): T {
  return new Proxy(target, {
    get: (_, property) => {
      if (property === name) return method
      const value: unknown = Reflect.get(target, property, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

function methodsOf(...classes: { prototype: object }[]): string[] {
  const names = classes.flatMap(({ prototype }) =>
    Object.entries(Object.getOwnPropertyDescriptors(prototype))
      .filter(([, { value }]) => typeof value === 'function')
      .map(([name]) => name),
  )
  return [...new Set(names)].filter((name) => name !== 'constructor')
}

function nothingFor(sql: string): (null | object)[] {
  const names = [...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, null])
  if (names.length > 0) return [Object.fromEntries(names)]
  return [...sql.matchAll(/\?/g)].map(() => null)
}
