// Part of the wiring of svc: a vault and the PostgreSQL that has its journal.

import { parseHubNaming } from '../../hub/config.ts'
import { readDatabaseServers } from '../../hub/database-settings.ts'
import { joinVault } from '../../hub/join-vault.ts'
import { openVaultStore } from '../../hub/open-store.ts'
import { shareVault, unshareVault } from '../../hub/share-vault.ts'
import { isShared } from '../../hub/shared-journal.ts'
import type { DatabaseServers } from '../../hub/store/postgres/writable-connection.ts'
import { unwrapDataKey } from '../../hub/vault/data-key.ts'
import { CONFIG_BYTES_MAX } from '../../hub/vault/vault-config.ts'
import { becomeOwnerOf } from '../../platform/become-owner.ts'
import { UserError } from '../../platform/errors.ts'
import type { JoinReport, MigrateReport, VaultMigration } from './admin-session.ts'
import { type KeysAccess, lockWithoutHub, readPassphrase } from './change-keys.ts'
import { explainFailure } from './explain-failure.ts'
import { prepareToReadPassphrase, type Surroundings } from './open-vault.ts'
import { readNamedFile } from './read-named-file.ts'
import { createPassphraseSource } from './passphrase.ts'

/** Refuses while a hub runs here; that none runs elsewhere the operator knows. */
export async function migrate(
  access: KeysAccess,
  { to, replaces }: VaultMigration,
): Promise<MigrateReport> {
  const { root, clock, progress, checkpointDirectory } = access
  const servers = requireDatabase(access.database)
  await readPassphrase(access)
  const lock = await lockWithoutHub(access)
  try {
    const vault = await access.unseal()
    const onProgress = (what: string): void => progress.show(what)
    if (to === 'embedded') {
      if (!isShared(vault)) return { path: root, to, isChanged: false }
      await unshareVault(vault, { servers, clock, onProgress })
    } else {
      if (isShared(vault) && !replaces) return { path: root, to, isChanged: false }
      onProgress('reading every page of the vault')
      // A vault that does not open whole stays where it is. Its journal may have lost what it has.
      const whole = { clock, checkpointDirectory, checkPages: true, leavesJournal: true }
      const store = await openVaultStore(vault, whole)
      await store.close()
      await shareVault(vault, { servers, clock, replaces, onProgress })
    }
    return { path: root, to, isChanged: true }
  } finally {
    lock.release()
  }
}

/** Started by root, svc is the owner of the directory from here on. */
export async function joinFrom(surroundings: Surroundings, file: string): Promise<JoinReport> {
  const { env, userId, ask, clock, progress } = surroundings
  const { vaultRoot: root } = parseHubNaming(env)
  const servers = requireDatabase(readDatabaseServers(env))
  const { text } = readNamedFile('--from', file, CONFIG_BYTES_MAX)
  const passphrases = createPassphraseSource({ ...prepareToReadPassphrase(env, userId), ask })
  if (userId === 0) becomeOwnerOf(root)
  const damaged: string[] = []
  try {
    const joined = await joinVault({
      root,
      config: { text, name: file },
      unwrap: async (config) => unwrapDataKey(config, await passphrases.read()),
      servers,
      clock,
      onProgress: (what) => progress.show(what),
      onDamaged: ({ message }) => damaged.push(message),
    })
    return { path: root, ...joined, damaged }
  } catch (error) {
    throw explainFailure(error, { root, action: `make a vault at ${root}` })
  }
}

function requireDatabase(servers: DatabaseServers | undefined): DatabaseServers {
  if (servers !== undefined) return servers
  throw new UserError('config_missing', 'SVC_DATABASE_URL required', {
    hint: 'it names the PostgreSQL that has, or is to have, the journal of the vault',
  })
}
