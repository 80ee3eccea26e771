// A real PostgreSQL by the URL of SVC_DATABASE_URL: docs/protocol.md DBS.

import assert from 'node:assert/strict'
import { chown, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { readDatabaseServers } from '../../src/hub/database-settings.ts'
import { WritableConnection } from '../../src/hub/store/postgres/writable-connection.ts'
import { describeError } from '../../src/platform/errors.ts'
import { createFakeCa, type FakeCa } from '../fakes/hub-certificates.ts'
import { idOf } from '../services/support/accounts.ts'
import { postgresProgram, skipUnlessRunnable } from '../services/support/required-programs.ts'
import { type Postgresql, startPostgresql } from '../support/postgresql.ts'
import { waitUntil } from '../support/processes.ts'

const SKIP = { skip: skipUnlessRunnable([postgresProgram('postgres')]) }

describe('a database by its URL', SKIP, () => {
  let server: Postgresql
  let ca: FakeCa
  let port: number
  before(async () => {
    server = await startPostgresql()
    port = server.servers.hosts[0]?.port ?? 0
    ca = await createFakeCa()
    await write('root.pem', ca.rootPem)
    await write('other-root.pem', (await createFakeCa()).rootPem)
    for (const name of ['localhost', '127.0.0.1', 'certified']) {
      const { certificatePem, keyPem } = await ca.issueServer(name)
      await write(`${name}.pem`, certificatePem)
      await write(`${name}.key`, keyPem)
    }
    await write(
      'data/pg_hba.conf',
      `local all all trust
       hostssl all certified 127.0.0.1/32 cert
       hostssl all secretive 127.0.0.1/32 scram-sha-256
       host all all 127.0.0.1/32 trust`,
    )
    await server.query('CREATE ROLE certified LOGIN')
    await server.query("CREATE ROLE secretive LOGIN PASSWORD 'p@ss/w?rd'")
    await configure({ ssl_ca_file: path('root.pem') })
    await showCertificateOf('localhost')
  })
  after(async () => {
    await server[Symbol.asyncDispose]()
  })

  const path = (name: string): string => join(server.directory, name)

  async function write(name: string, text: string): Promise<void> {
    await writeFile(path(name), text, { mode: 0o600 })
    if (process.geteuid?.() === 0) {
      await chown(path(name), await idOf('passwd', 'postgres'), await idOf('group', 'postgres'))
    }
  }

  /** Resolves once the server has read them. */
  async function configure(settings: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, value] of Object.entries(settings)) {
      await server.query(`ALTER SYSTEM SET ${name} = '${value}'`)
    }
    await server.query('SELECT pg_reload_conf()')
    const [name, value] = Object.entries(settings).at(-1) ?? []
    await waitUntil(`${name} to be ${value}`, async () => {
      const [row] = await server.query(`SELECT current_setting('${name}') = '${value}' AS is_set`)
      return (row as { is_set: boolean }).is_set || undefined
    })
  }

  async function showCertificateOf(name: string): Promise<void> {
    await configure({
      ssl: 'on',
      ssl_key_file: path(`${name}.key`),
      ssl_cert_file: path(`${name}.pem`),
    })
  }

  /** What it says of the connection, or why there is none. */
  async function connect(url: string): Promise<unknown> {
    const servers = readDatabaseServers({ SVC_DATABASE_URL: url })
    assert.ok(servers)
    try {
      const connection = await WritableConnection.open(servers)
      const [row] = await connection.query<{ readonly said: string }>(
        `SELECT current_user || CASE WHEN ssl THEN ' by TLS' ELSE ' in the clear' END AS said
         FROM pg_stat_ssl WHERE pid = pg_backend_pid()`,
      )
      connection.destroy()
      return row?.said
    } catch (error) {
      return describeError(error)
    }
  }

  test('[DBS-1] is reached by a Unix socket, and by TCP on this machine', async () => {
    assert.equal(
      await connect(`postgresql:///postgres?host=${server.directory}&port=${port}&user=svc`),
      'svc in the clear',
    )
    const socket = encodeURIComponent(server.directory)
    assert.equal(await connect(`postgresql://svc@${socket}:${port}/postgres`), 'svc in the clear')
    assert.equal(await connect(`postgresql://svc@127.0.0.1:${port}/postgres`), 'svc in the clear')
  })

  test('[DBS-3] by TLS shows a certificate of the roots, for the name in the URL', async () => {
    const byTls = (host: string, root: string): string =>
      `postgresql://svc@${host}:${port}/postgres?sslmode=verify-full&sslrootcert=${path(root)}`
    assert.equal(await connect(byTls('localhost', 'root.pem')), 'svc by TLS')
    assert.match(String(await connect(byTls('127.0.0.1', 'root.pem'))), /does not match.*altnames/)
    assert.match(String(await connect(byTls('localhost', 'other-root.pem'))), /certificate/)
    assert.match(
      String(await connect(`postgresql://svc@localhost:${port}/postgres?sslmode=verify-full`)),
      /certificate/,
      'the system has no such root',
    )
    await showCertificateOf('127.0.0.1')
    assert.equal(await connect(byTls('127.0.0.1', 'root.pem')), 'svc by TLS')
    assert.match(String(await connect(byTls('localhost', 'root.pem'))), /does not match.*altnames/)
    await configure({ ssl: 'off' })
    assert.match(String(await connect(byTls('127.0.0.1', 'root.pem'))), /does not support SSL/)
    await showCertificateOf('localhost')
  })

  test('[DBS-4] knows the hub by its certificate', async () => {
    const as = (pair: string): string =>
      `postgresql://certified@localhost:${port}/postgres?sslmode=verify-full&sslrootcert=${path('root.pem')}${pair}`
    const pair = `&sslcert=${path('certified.pem')}&sslkey=${path('certified.key')}`
    assert.equal(await connect(as(pair)), 'certified by TLS')
    assert.match(String(await connect(as(''))), /requires a valid client certificate/)
  })

  test('[DBS-5] knows the hub by the password of the URL, and by no other', async () => {
    const as = (password: string): string =>
      `postgresql://secretive${password}@localhost:${port}/postgres?sslmode=verify-full&sslrootcert=${path('root.pem')}`
    assert.equal(await connect(as(':p%40ss%2Fw%3Frd')), 'secretive by TLS')
    assert.match(String(await connect(as(':wrong'))), /password authentication failed/)
    // One of the environment is not the hub's.
    process.env['PGPASSWORD'] = 'p@ss/w?rd'
    try {
      assert.match(String(await connect(as(''))), /password must be a non-empty string/)
    } finally {
      delete process.env['PGPASSWORD']
    }
  })
})
