// A PostgreSQL of its own for a test, on loopback, with what it writes durable: tests stop and kill it.

import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UserError } from '../../src/platform/errors.ts'
import type { DatabaseServers } from '../../src/hub/store/postgres/writable-connection.ts'
import { WritableConnection } from '../../src/hub/store/postgres/writable-connection.ts'
import { idOf } from '../services/support/accounts.ts'
import { postgresProgram } from '../services/support/required-programs.ts'
import { findFreePort } from './free-port.ts'
import { type RunningProgram, runTool, startTool, waitUntil } from './processes.ts'
import { findTool, pathOfTool } from './tools.ts'

export interface ConfiguredPostgresql {
  readonly servers: DatabaseServers
  /** As SVC_DATABASE_URL has it. */
  readonly url: string
  /** The server's own, with its Unix socket, and its files in `data`. */
  readonly directory: string
  readonly program: string
  readonly args: readonly string[]
  takesWrites(this: void): Promise<boolean>
}

export interface Postgresql
  extends Pick<ConfiguredPostgresql, 'servers' | 'url' | 'directory'>, AsyncDisposable {
  /** Of the process whose children serve. */
  readonly pid: number
  kill(signal: NodeJS.Signals): void
  /** After it was killed. */
  startAgain(): Promise<void>
  /** Once on a connection of its own. */
  query(sql: string): Promise<readonly unknown[]>
}

const INIT_ARGS = ['--username=svc', '--no-sync', '--no-locale', '--encoding=UTF8', '--auth=trust']

/** Its files are made; nobody has started it. Throws a UserError where there is no PostgreSQL. */
export async function configurePostgresql(): Promise<ConfiguredPostgresql> {
  const postgres = postgresProgram('postgres')
  if (findTool(postgres) === undefined) {
    throw new UserError('no_postgresql', 'PostgreSQL is not installed', {
      hint: 'apt-get install postgresql',
    })
  }
  const directory = await mkdtemp(join(tmpdir(), 'postgresql-'))
  const data = join(directory, 'data')
  // It refuses to run as root.
  const isRoot = process.geteuid?.() === 0
  if (isRoot)
    await chown(directory, await idOf('passwd', 'postgres'), await idOf('group', 'postgres'))
  const asPostgres = isRoot ? ['--reuid=postgres', '--regid=postgres', '--init-groups'] : []
  await runTool('setpriv', [...asPostgres, postgresProgram('initdb'), '-D', data, ...INIT_ARGS])
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
  const set = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return {
    servers,
    url: `postgresql://svc@127.0.0.1:${port}/postgres`,
    directory,
    program: pathOfTool('setpriv'),
    args: [...asPostgres, postgres, '-D', data, ...set],
    takesWrites: async () => {
      const connection = await WritableConnection.open(servers).catch(() => undefined)
      connection?.destroy()
      return connection !== undefined
    },
  }
}

export async function startPostgresql(): Promise<Postgresql> {
  const { servers, url, directory, program, args, takesWrites } = await configurePostgresql()
  let server: RunningProgram
  const start = async (): Promise<void> => {
    server = startTool(program, args)
    await waitUntil('PostgreSQL to take writes', async () => {
      if (server.hasEnded()) throw new Error(`PostgreSQL ended: ${server.stderr()}`)
      return (await takesWrites()) || undefined
    })
  }
  await start()
  return {
    servers,
    url,
    directory,
    get pid() {
      return server.pid
    },
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
