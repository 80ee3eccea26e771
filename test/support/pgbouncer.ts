// Debian's PgBouncer in front of a PostgreSQL: what a hub must not be given in place of it.

import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseServers } from '../../src/hub/store/postgres/writable-connection.ts'
import { idOf } from '../services/support/accounts.ts'
import { findFreePort } from './free-port.ts'
import { startTool, waitUntil } from './processes.ts'

export interface Pgbouncer extends AsyncDisposable {
  readonly servers: DatabaseServers
}

export async function startPgbouncer(
  behind: DatabaseServers,
  settings: Readonly<Record<string, string>>,
): Promise<Pgbouncer> {
  const directory = await mkdtemp(join(tmpdir(), 'pgbouncer-'))
  const port = await findFreePort()
  const config = {
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: join(directory, 'users'),
    ...settings,
  }
  const lines = Object.entries(config).map(([name, value]) => `${name} = ${value}`)
  const { host, port: portBehind } = behind.hosts[0] ?? { host: '', port: 0 }
  await writeFile(config.auth_file, `"${behind.user}" ""\n`)
  await writeFile(
    join(directory, 'pgbouncer.ini'),
    `[databases]\n* = host=${host} port=${portBehind}\n[pgbouncer]\n${lines.join('\n')}\n`,
  )
  // It refuses to run as root.
  const isRoot = process.geteuid?.() === 0
  if (isRoot) {
    await chown(directory, await idOf('passwd', 'postgres'), await idOf('group', 'postgres'))
  }
  const asPostgres = isRoot ? ['--reuid=postgres', '--regid=postgres', '--init-groups'] : []
  const running = startTool('setpriv', [
    ...asPostgres,
    'pgbouncer',
    join(directory, 'pgbouncer.ini'),
  ])
  await waitUntil('PgBouncer to listen', async () => {
    if (running.hasEnded()) throw new Error(`PgBouncer ended: ${running.stderr()}`)
    return (await isListening(port)) || undefined
  })
  return {
    servers: { ...behind, hosts: [{ host: '127.0.0.1', port }] },
    [Symbol.asyncDispose]: async () => {
      running.kill('SIGTERM')
      await running.ended
      await rm(directory, { recursive: true })
    },
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
