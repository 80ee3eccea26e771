// The log of a hub that has been there for long, put into its vault while no hub runs.

import { chainEntries } from '../../src/audit/chain-entries.ts'
import type { NewAuditEntry } from '../../src/hub/domain/audit-entry.ts'
import { readDatabaseServers } from '../../src/hub/database-settings.ts'
import { openVaultStore } from '../../src/hub/open-store.ts'
import { unsealVault } from '../../src/hub/vault/vault.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { Secret } from '../../src/platform/secret.ts'
import { newEntry } from '../store/store-samples.ts'
import { type HubPlace, PASSPHRASE } from './hub.ts'

const DAY_MS = 86_400_000

export interface AgedEntries {
  readonly count: number
  readonly daysAgo: number
  /** What the entry has of its own; `index` counts from 0. */
  readonly content?: (index: number) => Partial<NewAuditEntry>
}

/** The oldest first. */
export async function appendAged(
  { vaultRoot, environment }: Pick<HubPlace, 'vaultRoot' | 'environment'>,
  groups: readonly AgedEntries[],
): Promise<void> {
  const vault = await unsealVault(vaultRoot, new Secret(PASSPHRASE))
  const store = await openVaultStore(vault, {
    clock: systemClock,
    database: readDatabaseServers(environment),
  })
  const entries = groups.flatMap(({ count, daysAgo, content }) =>
    Array.from({ length: count }, (_, index) =>
      newEntry({ at: new Date(Date.now() - daysAgo * DAY_MS), ...content?.(index) }),
    ),
  )
  await store.write(async (writer) =>
    writer.insertEntries(chainEntries(await writer.findChainEnd(), entries)),
  )
  await store.close()
}
