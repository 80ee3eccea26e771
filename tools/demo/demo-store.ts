import { join } from 'node:path'
import { configurePostgresql } from '../../test/support/postgresql.ts'
import { type Variables, waitUntil } from '../../test/support/processes.ts'
import type { TestStore } from '../../test/support/test-store.ts'
import { type Daemon, startDaemon } from './processes.ts'
import { step } from './screen.ts'

export interface DemoStoreOptions {
  /** Where what runs writes its log. */
  readonly logs: string
  /** What is to be stopped, and what is to be removed after that. */
  readonly daemons: Daemon[]
  readonly directories: string[]
}

/** Starts what the store needs; the settings of a hub. */
export async function startDemoStore(
  kind: TestStore,
  { logs, daemons, directories }: DemoStoreOptions,
): Promise<Variables> {
  if (kind === 'embedded') return {}
  return step('a PostgreSQL for the journal of the vault', async () => {
    const { program, args, url, directory, takesWrites } = await configurePostgresql()
    directories.push(directory)
    daemons.push(startDaemon(program, args, {}, join(logs, 'postgresql.log')))
    await waitUntil('PostgreSQL to take writes', async () => (await takesWrites()) || undefined)
    return { SVC_DATABASE_URL: url }
  })
}
