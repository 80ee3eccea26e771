// Several hubs as operators run them, each with a vault of its own, which share one journal in a real PostgreSQL.

import { copyFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createHubProcess, type HubProcess } from './hub-process.ts'
import { type Postgresql, startPostgresql } from './postgresql.ts'
import type { Ended, Variables } from './processes.ts'
import { runSvcHere } from './run-svc.ts'

export interface SeveralHubs extends AsyncDisposable {
  readonly server: Postgresql
  readonly all: readonly HubProcess[]
}

/** All of them listen. */
export async function startSeveralHubs(
  count: number,
  { caEnvironment, environment = {} }: { caEnvironment: Variables; environment?: Variables },
): Promise<SeveralHubs> {
  await using opened = new AsyncDisposableStack()
  const server = opened.use(await startPostgresql())
  const [{ port } = { port: 0 }] = server.servers.hosts
  const shared = { ...environment, SVC_DATABASE_URL: `postgresql://svc@127.0.0.1:${port}/postgres` }
  const all: HubProcess[] = []
  for (let at = 0; at < count; at += 1) {
    const hub = opened.use(await createHubProcess({ caEnvironment, environment: shared }))
    const [first] = all
    if (first === undefined) {
      succeeded(await runSvcHere(['vault', 'migrate', '--to', 'postgresql'], hub.environment))
    } else {
      const config = join(hub.directory, 'config.json')
      await copyFile(join(first.vaultRoot, 'config.json'), config)
      await rm(hub.vaultRoot, { recursive: true })
      succeeded(await runSvcHere(['join', '--from', config], hub.environment))
    }
    await hub.start()
    all.push(hub)
  }
  const kept = opened.move()
  return { server, all, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

function succeeded({ status, stderr }: Ended): void {
  if (status !== 0) throw new Error(stderr)
}
