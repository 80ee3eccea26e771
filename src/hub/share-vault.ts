// A vault gets a journal in a PostgreSQL, or leaves it. What the vault is afterwards is made beside it, and takes its place by one rename: a
// kill at any moment leaves the vault as it was, or moved, and the command can run again. docs/protocol.md DBS-12, DBS-13.

import { chmod, copyFile, rename, rm } from 'node:fs/promises'
import type { Clock } from '../platform/clock.ts'
import { syncDirectory, syncFile } from '../platform/files.ts'
import { HubEventType } from '../protocol/words.ts'
import { requireNoWriteAheadLog } from './backup/require-no-write-ahead-log.ts'
import { makeImage } from './journal/make-image.ts'
import { requireReadableFor } from './require-readable-tables.ts'
import { recordHubAct } from './service/hub-acts.ts'
import { connectTo } from './shared-journal.ts'
import { createJournal } from './store/postgres/create-journal.ts'
import { endJournal, isEndedAt } from './store/postgres/end-journal.ts'
import type { DatabaseServers } from './store/postgres/writable-connection.ts'
import { enterJournal, inspectJournalPosition } from './store/sqlite/enter-journal.ts'
import { NO_JOURNAL } from './store/record-seal.ts'
import { openSqliteStore } from './store/sqlite/sqlite-store.ts'
import type { Store } from './store/store.ts'
import { StoreError } from './store/store-error.ts'
import { readHubId } from './vault/hub-id.ts'
import type { UnsealedVault } from './vault/vault.ts'

export interface ShareOptions {
  readonly servers: DatabaseServers
  readonly clock: Clock
  /** The journal that the database has of this vault goes. */
  readonly replaces: boolean
  readonly onProgress: (what: string) => void
}

const MODE = 0o600

/** Under the vault's lock, with its store closed. Throws StoreError `store_exists` for a journal that is there. */
export async function shareVault(vault: UnsealedVault, options: ShareOptions): Promise<void> {
  const { root, vaultId, databasePath, dataKey } = vault
  const { servers, clock, replaces, onProgress } = options
  await requireNoWriteAheadLog(vault)
  const staged = `${databasePath}.shared`
  await removeDatabase(staged)
  try {
    onProgress('copying the database')
    await copyFile(databasePath, staged)
    await chmod(staged, MODE)
    const copy = { ...vault, databasePath: staged }
    await recordShared(copy, clock)
    enterJournal(staged, dataKey, await createJournal(servers, vaultId, { replaces }))
    onProgress('writing the image of the vault into the database')
    await writeFirstImage(copy, options)
    await syncFile(staged)
    await rename(staged, databasePath)
    await syncDirectory(root)
  } finally {
    await removeDatabase(staged)
  }
}

async function recordShared({ databasePath, dataKey }: UnsealedVault, clock: Clock): Promise<void> {
  const store = await openSqliteStore({ path: databasePath, dataKey })
  try {
    await recordMove(store, clock, 'postgresql')
  } finally {
    await store.close()
  }
}

async function writeFirstImage(
  copy: UnsealedVault,
  { servers, clock }: ShareOptions,
): Promise<void> {
  const { journal, seal, images, imageSeal } = connectTo(servers, copy, clock)
  const { databasePath: path, dataKey } = copy
  const store = await openSqliteStore({ path, dataKey, shared: { journal, seal } })
  try {
    const made = await makeImage({ store, images, seal: imageSeal, clock })
    if (made !== undefined) return
    throw new StoreError('store_unavailable', 'somebody else writes an image into the database', {
      hint: 'wait a minute, and run the command again',
    })
  } finally {
    await store.close()
    await journal.close()
  }
}

/** Under the vault's lock, with its store closed, and with all other hubs stopped. The vault has everything that the journal has. */
export async function unshareVault(
  vault: UnsealedVault,
  { servers, clock, onProgress }: Omit<ShareOptions, 'replaces'>,
): Promise<void> {
  const { vaultId, databasePath: path, dataKey } = vault
  const here = () => inspectJournalPosition(path, dataKey)
  // A kill may have come between the two ends.
  if (!(await isEndedAt(servers, vaultId, here()))) {
    onProgress('reading what the journal has')
    const sharing = connectTo(servers, vault, clock)
    const { journal, seal, hubs } = sharing
    const store = await openSqliteStore({ path, dataKey, shared: { journal, seal } })
    try {
      await store.follow()
      const ownId = await readHubId(vault.root)
      await store.bringTablesForward(requireReadableFor(sharing, ownId))
      await recordMove(store, clock, 'embedded')
    } finally {
      await store.close()
      await journal.close()
      await hubs.close()
    }
    await requireNoWriteAheadLog(vault)
    await endJournal(servers, vaultId, here())
  }
  enterJournal(path, dataKey, NO_JOURNAL)
}

async function recordMove(
  store: Store,
  clock: Clock,
  to: 'postgresql' | 'embedded',
): Promise<void> {
  await store.write((writer) =>
    recordHubAct(writer, clock.now(), HubEventType.vaultMoved, { actor: 'admin', to }),
  )
}

async function removeDatabase(path: string): Promise<void> {
  for (const suffix of ['', '-wal', '-shm']) await rm(`${path}${suffix}`, { force: true })
}
