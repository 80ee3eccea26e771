// Whether a vault has its journal in a PostgreSQL, and how it is reached. The vault knows that it shares one, whatever the settings say: what it
// wrote alone, nobody else would have. docs/protocol.md DBS-11.

import { randomInt } from 'node:crypto'
import { SvcError } from '../platform/errors.ts'
import type { Clock } from '../platform/clock.ts'
import type { HubRegistry } from './store/hub-registry.ts'
import { HubSeal } from './store/hub-seal.ts'
import { ImageSeal } from './store/image-seal.ts'
import type { Journal, LeaseTerm } from './store/journal.ts'
import type { JournalImages } from './store/journal-images.ts'
import { PostgresHubs } from './store/postgres/postgres-hubs.ts'
import { PostgresImages } from './store/postgres/postgres-images.ts'
import { PostgresJournal } from './store/postgres/postgres-journal.ts'
import type { DatabaseServers } from './store/postgres/writable-connection.ts'
import { isSamePosition, NO_JOURNAL, RecordSeal } from './store/record-seal.ts'
import { readRole } from './standby/standby-role.ts'
import { inspectJournalPosition } from './store/sqlite/enter-journal.ts'
import type { SharedJournal } from './store/sqlite/journal-follower.ts'
import type { UnsealedVault } from './vault/vault.ts'

export interface JournalConnection extends SharedJournal {
  readonly journal: Journal
  /** The same on a connection of its own, to read only. */
  readonly lookout: Pick<Journal, 'read' | 'close'>
  readonly images: JournalImages
  readonly imageSeal: ImageSeal
  readonly hubs: HubRegistry
  readonly hubSeal: HubSeal
  /** Reads the journal from the server that takes the beats. */
  keepTogether(this: void): void
  /** Of the hub that runs with it, once it does. */
  readonly place: HubPlace
}

export interface HubPlace {
  member?: { readonly standing: LeaseTerm | undefined }
  onFollowed?: NonNullable<SharedJournal['onFollowed']>
}

/** Throws SvcError `vault_shared` or `vault_embedded` where vault and settings do not say the same. */
export function connectJournal(
  vault: UnsealedVault,
  servers: DatabaseServers | undefined,
  clock: Clock,
): JournalConnection | undefined {
  if (isShared(vault)) {
    if (servers !== undefined) return connectTo(servers, vault, clock)
    throw new SvcError(
      'vault_shared',
      `the vault at ${vault.root} has its journal in a PostgreSQL, and SVC_DATABASE_URL is not set`,
      { hint: 'set SVC_DATABASE_URL; svc vault migrate --to embedded ends the sharing' },
    )
  }
  if (servers === undefined) return undefined
  throw new SvcError('vault_embedded', 'this vault is embedded, SVC_DATABASE_URL is set', {
    hint: 'svc vault migrate --to postgresql moves it',
  })
}

/** When to try again: not all hubs at once. */
const chance = (): number => randomInt(CHANCES) / CHANCES
const CHANCES = 1000

export function isShared({ root, databasePath, dataKey }: UnsealedVault): boolean {
  // With its standby a vault shares a journal of another kind.
  if (readRole(root)?.role === 'hub') return false
  return !isSamePosition(inspectJournalPosition(databasePath, dataKey), NO_JOURNAL)
}

export function connectTo(
  servers: DatabaseServers,
  { vaultId, dataKey }: Pick<UnsealedVault, 'vaultId' | 'dataKey'>,
  clock: Clock,
): JournalConnection {
  const manners = { clock, random: chance }
  const journal = new PostgresJournal(servers, vaultId, manners)
  const hubs = new PostgresHubs(servers, vaultId)
  const place: HubPlace = {}
  return {
    journal,
    lookout: new PostgresJournal(servers, vaultId, { ...manners, patienceMs: 0 }),
    seal: new RecordSeal(dataKey, vaultId),
    images: new PostgresImages(servers, vaultId),
    imageSeal: new ImageSeal(dataKey, vaultId),
    hubs,
    hubSeal: new HubSeal(dataKey, vaultId),
    keepTogether: () => {
      if (hubs.host !== undefined) journal.keepTo(hubs.host)
    },
    place,
    standing: () => place.member?.standing,
    onFollowed: (news) => place.onFollowed?.(news),
  }
}
