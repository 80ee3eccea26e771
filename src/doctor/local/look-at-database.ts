// The database of SVC_DATABASE_URL, as this machine sees it. docs/protocol.md DOC-28.

import { isIP } from 'node:net'
import type { HubConfig } from '../../hub/config.ts'
import { findDatabaseFaults } from '../../hub/find-database-faults.ts'
import type { DatabaseFacts } from '../scene.ts'
import { findAddresses, NO_NAME_SERVER } from './look-at-network.ts'

const LOOK_MS_MAX = 4000

export async function lookAtDatabase(
  servers: NonNullable<HubConfig['database']>,
  replication: HubConfig['databaseReplication'],
  now: () => Date,
): Promise<DatabaseFacts> {
  const signal = AbortSignal.timeout(LOOK_MS_MAX)
  // A look-up that no name server answers would hold up the end of svc.
  const answered = await Promise.all(servers.hosts.map(({ host }) => isAnswered(host)))
  const hosts = servers.hosts.filter((_host, index) => answered[index])
  if (hosts.length > 0) {
    return findDatabaseFaults({ ...servers, hosts }, { now, replication, signal })
  }
  const name = servers.hosts.map(({ host }) => host).join(', ')
  const message = `${NO_NAME_SERVER} for ${name}`
  return { name, findings: [{ fault: 'unreachable', status: 'failed', message }] }
}

async function isAnswered(host: string): Promise<boolean> {
  if (isIP(host) !== 0 || host.startsWith('/')) return true
  return (await findAddresses(host)).fault !== NO_NAME_SERVER
}
