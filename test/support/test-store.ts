// Which store the vaults of test hubs have: each its own by itself, or with TEST_STORE=postgresql a journal in a PostgreSQL that whoever runs the
// tests has started. All vaults of a run are in one database, each in the schema of a role of its own.

import { randomBytes } from 'node:crypto'
import { readDatabaseServers } from '../../src/hub/database-settings.ts'
import { createJournal } from '../../src/hub/store/postgres/create-journal.ts'
import type { DatabaseServers } from '../../src/hub/store/postgres/writable-connection.ts'
import { WritableConnection } from '../../src/hub/store/postgres/writable-connection.ts'
import { enterJournal } from '../../src/hub/store/sqlite/enter-journal.ts'
import type { UnsealedVault } from '../../src/hub/vault/vault.ts'
import { UserError } from '../../src/platform/errors.ts'
import type { TestHub } from './hub.ts'
import { startPostgresql } from './postgresql.ts'
import type { Variables } from './processes.ts'

const STORES = ['embedded', 'postgresql'] as const
export type TestStore = (typeof STORES)[number]

const STORE = 'TEST_STORE'
/** Of the PostgreSQL, with a role that may make others. */
const SERVER = 'TEST_STORE_URL'

/** Throws a UserError for a store that does not exist. */
export function parseTestStore(text: string = 'embedded'): TestStore {
  const store = STORES.find((name) => name === text)
  if (store !== undefined) return store
  throw new UserError('usage', `no store named ${text}`, { hint: `stores: ${STORES.join(', ')}` })
}

/** For all test hubs of this process, and of those that it starts, until it is disposed of. */
export async function startTestStore(store: TestStore): Promise<AsyncDisposable> {
  process.env[STORE] = store
  if (store === 'embedded') return { [Symbol.asyncDispose]: () => Promise.resolve() }
  const server = await startPostgresql()
  process.env[SERVER] = server.url
  return server
}

/** What the log of a new hub has besides: `hub_joined` (HUB-1), where the vault shares a journal. */
export const ENTRIES_OF_JOINING: number = process.env[STORE] === 'postgresql' ? 1 : 0

/** For what is of vaults alone that share no journal. */
export function embeddedAlone(why: string): { readonly skip: string | false } {
  return { skip: process.env[STORE] === 'postgresql' && why }
}

/** For a vault that a restore has made. */
export const EMBEDDED: Variables = { SVC_DATABASE_URL: '' }

/** What a hub's environment needs besides for a vault that is to be made. */
export async function prepareStore(): Promise<Variables> {
  if (parseTestStore(process.env[STORE]) === 'embedded') return {}
  const url = process.env[SERVER]
  if (url === undefined) throw new Error(`${STORE}=postgresql is for npm test, which starts one`)
  const role = `t${randomBytes(8).toString('hex')}`
  const connection = await WritableConnection.open(serversOf(url))
  try {
    await connection.query(`CREATE ROLE ${role} LOGIN`)
    await connection.query(`CREATE SCHEMA AUTHORIZATION ${role}`)
  } finally {
    connection.destroy()
  }
  const own = new URL(url)
  own.username = role
  // It has no standby, and says so to none of the tests.
  return { SVC_DATABASE_URL: own.href, SVC_DATABASE_REPLICATION: 'engine' }
}

/**
 * A new vault gets the journal that these settings name, if they name one, and nothing of that in its log: with what its store is opened then.
 * Its hub writes the first image.
 */
export async function shareAsSet(
  { vaultId, databasePath, dataKey }: UnsealedVault,
  settings: Variables,
): Promise<DatabaseServers | undefined> {
  const servers = readDatabaseServers(settings)
  if (servers === undefined) return undefined
  enterJournal(databasePath, dataKey, await createJournal(servers, vaultId))
  return servers
}

/** A vault that a restore has made in the place of one gets the journal that the settings name, as operators give it to one. */
export async function shareRestored(hub: Pick<TestHub, 'environment' | 'svc'>): Promise<void> {
  if (hub.environment['SVC_DATABASE_URL'] === undefined) return
  const { status, stderr } = await hub.svc('vault', 'migrate', '--to', 'postgresql', '--replace')
  if (status !== 0) throw new Error(stderr)
}

function serversOf(url: string): DatabaseServers {
  const servers = readDatabaseServers({ SVC_DATABASE_URL: url })
  if (servers === undefined) throw new Error('there is a URL')
  return servers
}
