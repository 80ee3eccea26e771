// The wiring of svc: the only file here that knows the hub's vault and store. Beside a hub the store is not needed, so
// it is loaded only when svc opens the vault itself.

import { accessSync, constants } from 'node:fs'
import { parseHubNaming, type HubNaming } from '../../hub/config.ts'
import { requireNoOtherHub } from '../../hub/standby/standby-role.ts'
import { readDatabaseServers } from '../../hub/database-settings.ts'
import { findPassphraseFaults } from '../../hub/passphrase-faults.ts'
import { isSecretSet, readSecret } from '../../hub/read-secret.ts'
import type { DatabaseServers } from '../../hub/store/postgres/writable-connection.ts'
import { agentAddresses } from '../../hub/service/admin/agent-addresses.ts'
import {
  initVault,
  lockVault,
  unsealVault,
  type UnsealedVault,
  type VaultLock,
} from '../../hub/vault/vault.ts'
import { VaultError } from '../../hub/vault/vault-error.ts'
import { vaultFiles } from '../../hub/vault/vault-files.ts'
import { vaultMissing } from '../../hub/vault/vault-lock.ts'
import { becomeOwnerOf } from '../../platform/become-owner.ts'
import type { Clock } from '../../platform/clock.ts'
import { errnoCode, type SvcError, UserError } from '../../platform/errors.ts'
import { exists } from '../../platform/files.ts'
import type { Secret } from '../../platform/secret.ts'
import type {
  AdminOptions,
  AdminSession,
  CheckedPassphrase,
  VaultControls,
  WithAdmin,
} from './admin-session.ts'
import type { KeysAccess } from './change-keys.ts'
import { connect } from './connect.ts'
import { explainFailure, type Attempt } from './explain-failure.ts'
import { createPassphraseSource, type PassphraseOptions } from './passphrase.ts'
import type { Progress } from '../terminal/progress.ts'
import { connectToHub } from './socket-client.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What needs the vault to be there. */
export type OpenVaultControls = Omit<
  VaultControls,
  'verifyBackup' | 'restore' | 'join' | 'standby'
> & {
  readonly withAdmin: WithAdmin
}

export interface Surroundings extends Pick<PassphraseOptions, 'ask'> {
  readonly env: Environment
  readonly clock: Clock
  readonly progress: Progress
  /** 0 becomes the owner of the vault. */
  readonly userId: number | undefined
}

/** Started by root, svc is the vault's owner from here on. */
export function openVaultControls(surroundings: Surroundings): OpenVaultControls {
  const { env, clock, progress, ask, userId } = surroundings
  const naming = parseHubNaming(env)
  const root = naming.vaultRoot
  const given = prepareToReadPassphrase(env, userId)
  const database = readDatabaseServers(env)
  if (userId === 0) becomeOwnerOf(root)
  const access = { ...createAccess(naming, { ...given, ask }), database }
  const use: Attempt = { root, action: `use the vault at ${root}` }
  const withAdmin: WithAdmin = async (work, options = {}) => {
    const doors = {
      openVault: () => openDirectly(access, clock, options),
      connectToHub: () => connectToHub(vaultFiles(root).adminSocket),
    }
    const session = await explaining(use, () => connect(doors, root, clock, progress))
    try {
      return await work(session)
    } finally {
      await session.close()
    }
  }
  const keysAccess: KeysAccess = {
    ...access,
    clock,
    progress,
    checkpointDirectory: naming.checkpointDirectory,
    refuseWeak,
  }
  const withKeys =
    <Given extends readonly unknown[], T>(
      work: (keys: typeof import('./change-keys.ts'), ...wanted: Given) => Promise<T>,
    ) =>
    (...wanted: Given): Promise<T> =>
      explaining(use, async () => {
        requireAccess(root)
        return work(await import('./change-keys.ts'), ...wanted)
      })
  return {
    create: () =>
      explaining({ root, action: `create a vault at ${root}` }, async () => {
        const path = await createVault(access)
        if (database === undefined) return path
        const { migrate } = await import('./share-vault.ts')
        await migrate(keysAccess, { to: 'postgresql', replaces: false })
        return path
      }),
    migrate: (migration) =>
      explaining(use, async () => {
        requireAccess(root)
        return (await import('./share-vault.ts')).migrate(keysAccess, migration)
      }),
    checkPassphrase: () => explaining(use, () => checkPassphrase(access)),
    withBackup: (_options, work) => withAdmin(async (session) => work(await session.openBackup())),
    changePassphrase: withKeys(async (keys, change) => keys.changePassphrase(keysAccess, change)),
    addRecoveryKey: withKeys(async (keys, key) => keys.addRecoveryKey(keysAccess, key)),
    removeRecoveryKey: withKeys(async (keys, key) => keys.removeRecoveryKey(keysAccess, key)),
    rekey: withKeys(async (keys, wanted) => keys.rekey(keysAccess, wanted)),
    compact: withKeys(async (keys) => keys.compact(keysAccess)),
    listRecoveryKeys: withKeys(async (keys) => keys.listRecoveryKeys(keysAccess)),
    withAdmin,
  }
}

/** Where a hub of this machine listens. */
export function adminSocketOf(env: Environment): string {
  return vaultFiles(parseHubNaming(env).vaultRoot).adminSocket
}

/** Whatever says so of the passphrase, not of the file that it may come from. */
function refuseWeak(passphrase: Secret<string>): void {
  const [fault] = findPassphraseFaults(passphrase, {})
  if (fault !== undefined) throw fault
}

type VaultAccess = ReturnType<typeof createAccess> & {
  readonly database: DatabaseServers | undefined
}

function createAccess(naming: HubNaming, options: PassphraseOptions) {
  const root = naming.vaultRoot
  const passphrases = createPassphraseSource(options)
  // Deriving the key is slow on purpose: once is enough for a command that both checks and opens.
  let unsealed: UnsealedVault | undefined
  const unseal = async (why?: string): Promise<UnsealedVault> => {
    // A standby may have no database yet, and nothing of it is to be repaired.
    requireNoOtherHub(root)
    unsealed ??= await unsealVault(root, await passphrases.read(why))
    return unsealed
  }
  return { naming, root, passphrases, unseal }
}

/** Root reads the file while it may: the vault's owner perhaps may not. The code that needs it says what failed. */
export function prepareToReadPassphrase(
  env: Environment,
  userId: number | undefined,
): Omit<PassphraseOptions, 'ask'> {
  const findFaults = (passphrase: Secret<string>): SvcError[] =>
    findPassphraseFaults(passphrase, env)
  if (userId !== 0) return { readFromEnvironment: () => readPassphrase(env), findFaults }
  try {
    const given = readPassphrase(env)
    const faults = given === undefined ? [] : findFaults(given)
    return {
      readFromEnvironment: () => given,
      findFaults: (passphrase) => (passphrase === given ? faults : findFaults(passphrase)),
    }
  } catch (error) {
    const readFromEnvironment = (): never => {
      throw error
    }
    return { readFromEnvironment, findFaults }
  }
}

function readPassphrase(env: Environment): Secret<string> | undefined {
  const name = 'SVC_MASTER_PASSPHRASE'
  return isSecretSet(env, name) ? readSecret(env, name) : undefined
}

async function createVault({ root, passphrases }: VaultAccess): Promise<string> {
  await refuseExistingVault(root)
  return (await initVault(root, await passphrases.readNew())).root
}

/** Nobody is asked for the passphrase of a vault that is not there. */
async function checkPassphrase({
  root,
  passphrases,
  unseal,
}: VaultAccess): Promise<CheckedPassphrase> {
  requireAccess(root)
  if (!(await exists(vaultFiles(root).config))) throw vaultMissing(root)
  const { root: path } = await unseal()
  return { path, faults: passphrases.faults().map(({ message }) => message) }
}

async function openDirectly(
  access: VaultAccess,
  clock: Clock,
  options: AdminOptions,
): Promise<AdminSession | undefined> {
  const { root, passphrases } = access
  requireAccess(root)
  const lock = tryLockVault(root)
  if (lock === undefined) return undefined
  try {
    if (!passphrases.needsPerson()) return await openSession(access, clock, lock, options)
  } catch (error) {
    lock.release()
    throw error
  }
  // A hub that starts meanwhile shall not wait until a person has typed.
  lock.release()
  await passphrases.read()
  return openDirectly(access, clock, options)
}

/** That there is a vault already matters more than a passphrase that is missing. */
async function refuseExistingVault(root: string): Promise<void> {
  if (!(await exists(vaultFiles(root).config))) return
  throw new UserError('vault_exists', `vault already initialised at ${root}`, {
    hint: 'name another directory with SVC_VAULT_ROOT; svc never touches an existing vault',
  })
}

function tryLockVault(root: string): VaultLock | undefined {
  try {
    return lockVault(root)
  } catch (error) {
    if (error instanceof VaultError && error.code === 'vault_locked') return undefined
    throw error
  }
}

async function openSession(
  { naming, unseal, database }: VaultAccess,
  clock: Clock,
  lock: VaultLock,
  options: AdminOptions,
): Promise<AdminSession> {
  const { openVaultStore } = await import('../../hub/open-store.ts')
  const { createPerformOperation } = await import('../../hub/service/admin/perform-operation.ts')
  const { createLogArchiver } = await import('../../hub/archive/log-archive.ts')
  const { createBackupMaker } = await import('../../hub/backup/make-backup.ts')
  const { checkRequests } = await import('./checked-operations.ts')
  const vault = await unseal('no hub runs on this vault, so svc opens it itself: ')
  const store = await openVaultStore(vault, {
    clock,
    checkpointDirectory: naming.checkpointDirectory,
    archiveDirectory: naming.archiveDirectory,
    database,
    ...options,
  })
  const dependencies = {
    store,
    clock,
    archiver: createLogArchiver({ ...vault, store, directory: naming.archiveDirectory, clock }),
    addresses: agentAddresses(naming, {
      enroll: naming.enrollBind,
      enrollTls: naming.enrollTlsBind,
      mtls: naming.mtlsBind,
    }),
    hubNames: naming.serverNames,
    contentBytesMax: naming.contentBytesMax,
    renewalThresholdMs: naming.renewalThresholdMs,
  }
  const perform = createPerformOperation(dependencies)
  const backups = createBackupMaker({ vault, store, clock })
  return {
    operations: checkRequests((name, request) =>
      perform(name, request, { actor: 'admin', role: 'admin' }),
    ),
    isThroughHub: false,
    openBackup: async () => (await backups.begin('admin')).stream,
    close: async () => {
      await store.close()
      lock.release()
    },
  }
}

/** Without this a vault that we may not look into would pass for one that does not exist. */
function requireAccess(root: string): void {
  try {
    accessSync(root, constants.X_OK)
  } catch (error) {
    if (errnoCode(error) !== 'ENOENT') throw error
  }
}

/** Errors of the system around the vault are the operator's to mend, not bugs. */
async function explaining<T>(attempt: Attempt, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw explainFailure(error, attempt)
  }
}
