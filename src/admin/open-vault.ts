// The wiring of svc: the only file here that knows the hub's vault and store.

import { accessSync, constants } from 'node:fs'
import { parseHubNaming, readSecret, type HubNaming } from '../hub/config.ts'
import { openVaultStore } from '../hub/open-store.ts'
import { createAdminOperations } from '../hub/service/admin-operations.ts'
import { agentAddresses } from '../hub/service/agent-addresses.ts'
import { initVault, lockVault, unsealVault, type VaultLock } from '../hub/vault/vault.ts'
import { VaultError } from '../hub/vault/vault-error.ts'
import { vaultFiles } from '../hub/vault/vault-files.ts'
import { becomeOwnerOf } from '../platform/become-owner.ts'
import type { Clock } from '../platform/clock.ts'
import { errnoCode, SvcError, UserError } from '../platform/errors.ts'
import { exists } from '../platform/files.ts'
import type { Secret } from '../platform/secret.ts'
import type { AdminSession } from './admin-session.ts'
import { checkRequests } from './checked-operations.ts'
import type { CommandContext, VaultControls } from './command-context.ts'
import { connect } from './connect.ts'
import { connectToHub } from './socket-client.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Started by root, svc is the vault's owner from here on. */
export function openVaultControls(
  env: Environment,
  clock: Clock,
): VaultControls & Pick<CommandContext, 'withAdmin'> {
  const naming = parseHubNaming(env)
  const root = naming.vaultRoot
  becomeOwnerOf(root)
  return {
    create: () => explaining(root, () => createVault(root, env)),
    checkPassphrase: () =>
      explaining(root, async () => {
        requireAccess(root)
        return (await unsealVault(root, readPassphrase(env))).root
      }),
    withAdmin: async (work) => {
      const doors = {
        openVault: () => openDirectly(naming, env, clock),
        connectToHub: () => connectToHub(vaultFiles(root).adminSocket),
      }
      const session = await explaining(root, () => connect(doors, root, clock))
      try {
        return await work(session)
      } finally {
        await session.close()
      }
    },
  }
}

/** That there is a vault already matters more than a passphrase that is missing. */
async function createVault(root: string, env: Environment): Promise<string> {
  if (await exists(vaultFiles(root).config)) {
    throw new UserError('vault_exists', `vault already initialised at ${root}`)
  }
  return (await initVault(root, readPassphrase(env))).root
}

async function openDirectly(
  naming: HubNaming,
  env: Environment,
  clock: Clock,
): Promise<AdminSession | undefined> {
  requireAccess(naming.vaultRoot)
  const lock = tryLockVault(naming.vaultRoot)
  if (lock === undefined) return undefined
  try {
    return await openSession(naming, readPassphrase(env), clock, lock)
  } catch (error) {
    lock.release()
    throw error
  }
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
  naming: HubNaming,
  passphrase: Secret<string>,
  clock: Clock,
  lock: VaultLock,
): Promise<AdminSession> {
  const vault = await unsealVault(naming.vaultRoot, passphrase)
  const store = await openVaultStore(vault, { clock })
  const operations = createAdminOperations({
    store,
    clock,
    addresses: agentAddresses(naming.serverNames, {
      enroll: naming.enrollBind,
      mtls: naming.mtlsBind,
    }),
    hubNames: naming.serverNames,
  })
  return {
    operations: checkRequests(operations),
    isThroughHub: false,
    close: async () => {
      await store.close()
      lock.release()
    },
  }
}

function readPassphrase(env: Environment): Secret<string> {
  const name = 'SVC_MASTER_PASSPHRASE'
  if (!env[name] && !env[`${name}_FILE`]) {
    throw new UserError('config_missing', `${name} required`, {
      hint: `set it, or ${name}_FILE to the path of a file that holds it`,
    })
  }
  return readSecret(env, name)
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
async function explaining<T>(root: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof SvcError || errnoCode(error) === undefined) throw error
    const message = error instanceof Error ? error.message : String(error)
    throw new UserError('vault_inaccessible', `cannot use the vault at ${root}: ${message}`, {
      cause: error,
      hint: 'run svc as the owner of the vault, or as root',
    })
  }
}
