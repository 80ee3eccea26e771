// A PostgreSQL of its own for a test, on loopback, with what it writes durable: tests stop and kill it.

import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseServers } from '../../src/hub/store/postgres/writable-connection.ts'
import { WritableConnection } from '../../src/hub/store/postgres/writable-connection.ts'
import { idOf } from '../services/support/accounts.ts'
import { postgresProgram } from '../services/support/required-programs.ts'
import { findFreePort } from './free-port.ts'
import { type RunningProgram, runTool, startTool, waitUntil } from './processes.ts'

export interface Postgresql extends AsyncDisposable {
  readonly servers: DatabaseServers
  /** The server's own, with its Unix socket, and its files in `data`. */
  readonly directory: string
  kill(signal: NodeJS.Signals): void
  /** After it was killed. */
  startAgain(): Promise<void>
  /** Once on a connection of its own. */
  query(sql: string): Promise<readonly unknown[]>
}

export async function startPostgresql(): Promise<Postgresql> {
  const directory = await mkdtemp(join(tmpdir(), 'postgresql-'))
  const data = join(directory, 'data')
  // It refuses to run as root.
  const isRoot = process.geteuid?.() === 0
  if (isRoot)
    await chown(directory, await idOf('passwd', 'postgres'), await idOf('group', 'postgres'))
  const asPostgres = isRoot ? ['--reuid=postgres', '--regid=postgres', '--init-groups'] : []
  const run = ['setpriv', [...asPostgres]] as const
  const initArgs = [
    '-D',
    data,
    '--username=svc',
    '--no-sync',
    '--no-locale',
    '--encoding=UTF8',
    '--auth=trust',
  ]
  await runTool(run[0], [...run[1], postgresProgram('initdb'), ...initArgs])
  const port = await findFreePort()
  const servers: DatabaseServers = {
    hosts: [{ host: '127.0.0.1', port }],
    database: 'postgres',
    user: 'svc',
    password: undefined,
    tls: undefined,
  }
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: directory,
  }
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  let server: RunningProgram
  const start = async (): Promise<void> => {
    server = startTool(run[0], [...run[1], postgresProgram('postgres'), '-D', data, ...args])
    await waitUntil('PostgreSQL to take writes', async () => {
      if (server.hasEnded()) throw new Error(`PostgreSQL ended: ${server.stderr()}`)
      const connection = await WritableConnection.open(servers).catch(() => undefined)
      connection?.destroy()
      return connection && true
    })
  }
  await start()
  return {
    servers,
    directory,
    kill: (signal) => server.kill(signal),
    startAgain: async () => {
      await server.ended
      await start()
    },
    query: async (sql) => {
      const connection = await WritableConnection.open(servers)
      try {
        return await connection.query(sql)
      } finally {
        connection.destroy()
      }
    },
    [Symbol.asyncDispose]: async () => {
      server.kill('SIGQUIT')
      await server.ended
      await rm(directory, { recursive: true })
    },
  }
}
