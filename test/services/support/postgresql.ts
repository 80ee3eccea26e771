// A PostgreSQL cluster of its own, run as postgres, which wants its key to be its own alone, or root's and its group's.

import { chown, mkdir } from 'node:fs/promises'
import { findFreePort } from '../../support/free-port.ts'
import { runTool } from '../../support/processes.ts'
import { idOf } from './accounts.ts'
import { createPlaceholderPair } from './placeholder-pair.ts'
import { postgresProgram } from './required-programs.ts'
import type { ServiceHost } from './service-host.ts'
import { startService } from './service-process.ts'

export interface Postgresql {
  readonly port: number
  readonly certificatePath: string
  readonly keyPath: string
  readonly reload: readonly string[]
}

/** Debian's postgres is in the group ssl-cert, which may read what is in /etc/ssl/private. */
const AS_POSTGRES = [
  '/usr/bin/setpriv',
  '--reuid=postgres',
  '--regid=postgres',
  '--init-groups',
] as const

export async function startPostgresql(host: ServiceHost): Promise<Postgresql> {
  const port = await findFreePort()
  const { certificatePem, keyPem } = await createPlaceholderPair()
  const certificatePath = await host.write('etc/ssl/certs/site.pem', certificatePem)
  const keyPath = await host.write('etc/ssl/private/site.key', keyPem, 0o640)
  await chown(keyPath, 0, await idOf('group', 'ssl-cert'))
  await mkdir(host.path('postgresql'))
  await chown(
    host.path('postgresql'),
    await idOf('passwd', 'postgres'),
    await idOf('group', 'postgres'),
  )
  const dataDir = host.path('postgresql/main')
  const [setpriv, ...asPostgres] = AS_POSTGRES
  await runTool(setpriv, [
    ...asPostgres,
    postgresProgram('initdb'),
    '-D',
    dataDir,
    '--no-sync',
    '--no-locale',
    '--encoding=UTF8',
    '--auth=trust',
  ])
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    ssl: 'on',
    ssl_cert_file: certificatePath,
    ssl_key_file: keyPath,
  }
  await startService(host, {
    program: setpriv,
    args: [
      ...asPostgres,
      postgresProgram('postgres'),
      '-D',
      dataDir,
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    port,
    stopSignal: 'SIGINT',
  })
  const reload = [...AS_POSTGRES, postgresProgram('pg_ctl'), 'reload', '-D', dataDir]
  return { port, certificatePath, keyPath, reload }
}
