// A change of the keys of a vault that no hub has open. Part of the wiring of svc: it knows the hub's vault and store.

import { openVaultStore } from '../../hub/open-store.ts'
import { isShared } from '../../hub/shared-journal.ts'
import type { DatabaseServers } from '../../hub/store/postgres/writable-connection.ts'
import { payloadOfChange, recordKeyChange } from '../../hub/record-key-change.ts'
import { type KeysToBe, planKeys, putKeysInForce } from '../../hub/vault/change-keys.ts'
import {
  isRecoveryKeyName,
  type KeyChange,
  RECOVERY_KEYS_MAX,
  type RecoverySlot,
} from '../../hub/vault/key-changes.ts'
import { sealDataKey } from '../../hub/vault/recovery-slots.ts'
import { VaultError } from '../../hub/vault/vault-error.ts'
import { vaultFiles } from '../../hub/vault/vault-files.ts'
import {
  lockVault,
  recoverVault,
  type UnsealedVault,
  type VaultLock,
} from '../../hub/vault/vault.ts'
import type { Clock } from '../../platform/clock.ts'
import { describeError, SvcError, UserError } from '../../platform/errors.ts'
import type { Secret } from '../../platform/secret.ts'
import { parseRecipient, type Recipient } from '../../protocol/identifiers.ts'
import { HubEventType } from '../../protocol/words.ts'
import { fingerprintOf } from '../../sealing/age-identity.ts'
import type {
  GoneRecoveryKey,
  KeyChangeReport,
  CompactReport,
  NewRecoveryKey,
  PassphraseChange,
  RecoveryKey,
  Rekey,
} from './admin-session.ts'
import { connect } from './connect.ts'
import type { PassphraseSource } from './passphrase.ts'
import type { Progress } from '../terminal/progress.ts'
import { connectToHub } from './socket-client.ts'

export interface KeysAccess {
  readonly root: string
  readonly clock: Clock
  readonly progress: Progress
  readonly checkpointDirectory: string | undefined
  /** With the journal of the vault. */
  readonly database: DatabaseServers | undefined
  readonly passphrases: PassphraseSource
  readonly unseal: () => Promise<UnsealedVault>
  /** Throws when a passphrase is a weak one. */
  readonly refuseWeak: (passphrase: Secret<string>) => void
}

export async function changePassphrase(
  access: KeysAccess,
  { newPassphrase, recoveryIdentity, isRehearsal }: PassphraseChange,
): Promise<KeyChangeReport> {
  const { passphrases } = access
  if (newPassphrase !== undefined) access.refuseWeak(newPassphrase)
  if (passphrases.needsPerson() || newPassphrase === undefined) await refuseBeforeAsking(access)
  const old = recoveryIdentity === undefined ? await passphrases.read() : undefined
  const passphrase = newPassphrase ?? (await passphrases.readReplacement(access.refuseWeak))
  if (passphrase.reveal() === old?.reveal()) {
    throw new UserError('passphrase_same', 'the new passphrase is the old one')
  }
  return underLock(access, isRehearsal, async () => {
    const type = HubEventType.passphraseChanged
    if (recoveryIdentity === undefined) {
      return { vault: await access.unseal(), keys: { passphrase, change: change(access, type) } }
    }
    const { vault, slot } = await recoverVault(access.root, recoveryIdentity)
    return { vault, keys: { passphrase, change: change(access, type, slot) } }
  })
}

export async function addRecoveryKey(
  access: KeysAccess,
  { name, recipient: text, isRehearsal }: NewRecoveryKey,
): Promise<KeyChangeReport> {
  if (!isRecoveryKeyName(name)) {
    throw new UserError('recovery_name_invalid', 'that is no name for a recovery key', {
      hint: 'letters, digits, . _ - (not first), at most 64 characters',
    })
  }
  const recipient = parseRecipient(text)
  if (recipient === undefined) {
    throw new UserError('recipient_invalid', 'that is not a post-quantum recipient of age', {
      hint: 'age-keygen -pq makes an identity, and shows its recipient: age1pq1…',
    })
  }
  const passphrase = await readPassphrase(access)
  return underLock(access, isRehearsal, async () => {
    const vault = await access.unseal()
    const before = vault.config.keys?.recovery ?? []
    refuseRecoveryKey(before, name, recipient)
    const sealed = await sealDataKey(vault.vaultId, vault.dataKey, recipient)
    const slot = { name, recipient, createdAt: access.clock.now(), sealed }
    const recovery = [...before, slot]
    const added = change(access, HubEventType.recoveryKeyAdded, slot)
    return { vault, keys: { passphrase, recovery, change: added } }
  })
}

export async function removeRecoveryKey(
  access: KeysAccess,
  { name, isRehearsal }: GoneRecoveryKey,
): Promise<KeyChangeReport> {
  const passphrase = await readPassphrase(access)
  return underLock(access, isRehearsal, async () => {
    const vault = await access.unseal()
    const before = vault.config.keys?.recovery ?? []
    const slot = before.find((each) => each.name === name)
    if (slot === undefined) {
      throw new UserError('recovery_key_not_found', `no recovery key is named ${name}`, {
        hint: 'svc recovery list shows the names',
      })
    }
    const recovery = before.filter((each) => each !== slot)
    const removed = change(access, HubEventType.recoveryKeyRemoved, slot)
    return { vault, keys: { passphrase, recovery, change: removed } }
  })
}

export async function rekey(access: KeysAccess, wanted: Rekey): Promise<KeyChangeReport> {
  const { root, clock, progress, checkpointDirectory, unseal } = access
  const { to, isRehearsal } = wanted
  const passphrase = await readPassphrase(access)
  const lock = await lockWithoutHub(access)
  try {
    const vault = await unseal()
    if (isShared(vault)) throw sharedVault()
    progress.show('reading every page of the vault')
    const store = await openVaultStore(vault, { clock, checkpointDirectory, checkPages: true })
    await store.close()
    const made = change(access, HubEventType.vaultRekeyed)
    if (!isRehearsal) {
      const onProgress = (what: string): void => progress.show(what)
      const options = { to, passphrase, change: made, clock, checkpointDirectory, onProgress }
      const { rekeyVault } = await import('../../hub/rekey-vault.ts')
      await rekeyVault(vault, options)
    }
    const generation = (vault.config.keys?.generation ?? 0) + 1
    return { path: root, type: made.type, payload: payloadOfChange(made, generation) }
  } finally {
    lock.release()
  }
}

/** Refuses while a hub runs; a vault that does not open whole stays as it is. */
export async function compact(access: KeysAccess): Promise<CompactReport> {
  const { root, clock, progress, checkpointDirectory, database, unseal } = access
  await readPassphrase(access)
  const lock = await lockWithoutHub(access)
  try {
    const vault = await unseal()
    const store = await openVaultStore(vault, { clock, checkpointDirectory, database })
    await store.close()
    const { compactVault } = await import('../../hub/compact-vault.ts')
    return { path: root, ...(await compactVault(vault, (what) => progress.show(what))) }
  } finally {
    lock.release()
  }
}

/** A hub may run: config.json is read, and changes as a whole. */
export async function listRecoveryKeys({ unseal }: KeysAccess): Promise<readonly RecoveryKey[]> {
  const { config } = await unseal()
  return (config.keys?.recovery ?? []).map(({ name, recipient, createdAt }) => ({
    name,
    recipient,
    fingerprint: fingerprintOf(recipient),
    createdAt,
  }))
}

function change({ clock }: KeysAccess, type: KeyChange['type'], slot?: RecoverySlot): KeyChange {
  return {
    type,
    at: clock.now(),
    recoveryKey: slot?.name ?? null,
    fingerprint: slot === undefined ? null : fingerprintOf(slot.recipient),
  }
}

function refuseRecoveryKey(
  before: readonly RecoverySlot[],
  name: string,
  recipient: Recipient,
): void {
  const same = before.find((each) => each.name === name || each.recipient === recipient)
  if (same !== undefined) {
    const what = same.name === name ? `is named ${name}` : `is of that recipient: ${same.name}`
    throw new UserError('recovery_key_exists', `a recovery key ${what}`, {
      hint: `choose another one, or remove it first: svc recovery remove ${same.name}`,
    })
  }
  if (before.length < RECOVERY_KEYS_MAX) return
  throw new UserError(
    'too_many_recovery_keys',
    `a vault has at most ${RECOVERY_KEYS_MAX} recovery keys`,
    { hint: 'svc recovery remove makes room' },
  )
}

export async function readPassphrase(access: KeysAccess): Promise<Secret<string>> {
  if (access.passphrases.needsPerson()) await refuseBeforeAsking(access)
  return access.passphrases.read()
}

/** Nobody types for a vault that is not there or is in use, and nothing waits for a person who types. */
async function refuseBeforeAsking(access: KeysAccess): Promise<void> {
  const lock = await lockWithoutHub(access)
  lock.release()
}

interface WantedKeys {
  readonly vault: UnsealedVault
  readonly keys: KeysToBe
}

/** Its records are sealed under the data key. */
function sharedVault(): UserError {
  return new UserError('vault_shared', 'the vault has its journal in a PostgreSQL', {
    hint: 'svc vault migrate --to embedded first; afterwards, svc vault migrate --to postgresql',
  })
}

async function underLock(
  access: KeysAccess,
  isRehearsal: boolean,
  open: () => Promise<WantedKeys>,
): Promise<KeyChangeReport> {
  const { root, clock, checkpointDirectory, database } = access
  const lock = await lockWithoutHub(access)
  try {
    const { vault, keys } = await open()
    // A vault that does not open whole keeps its keys.
    const store = await openVaultStore(vault, { clock, checkpointDirectory, database })
    try {
      const planned = await planKeys(vault, keys)
      const generation = planned.keys?.generation ?? 0
      if (!isRehearsal) {
        await putKeysInForce(vault, planned, keys.passphrase)
        await recordKeyChange(store, planned, { now: clock.now() }).catch(refuseSilence)
      }
      const payload = payloadOfChange(keys.change, generation)
      return { path: root, type: keys.change.type, payload }
    } finally {
      await store.close()
    }
  } finally {
    lock.release()
  }
}

/** The change is made, and the log will tell of it: a failure all the same, since a disk is full or broken. */
function refuseSilence(error: unknown): never {
  throw new SvcError(
    'entry_waiting',
    `the keys of the vault have changed, but the audit log does not say so yet: ${describeError(error)}`,
    { cause: error, hint: 'the next command or hub that opens the vault writes the entry' },
  )
}

/** Refuses beside a hub: the hub would end at its next start, at night perhaps, for want of a passphrase that nobody gave it. */
export function lockWithoutHub({ root, clock, progress }: KeysAccess): Promise<VaultLock> {
  return connect(
    {
      connectToHub: async () => {
        const session = await connectToHub(vaultFiles(root).adminSocket)
        if (session === undefined) return undefined
        await session.close()
        throw new UserError('hub_running', `a hub has the vault at ${root} open`, {
          hint: 'stop the hub, run the command again, give the hub what it needs for its next start, and start it',
        })
      },
      openVault: async () => tryLockVault(root),
    },
    root,
    clock,
    progress,
  )
}

function tryLockVault(root: string): VaultLock | undefined {
  try {
    return lockVault(root)
  } catch (error) {
    if (error instanceof VaultError && error.code === 'vault_locked') return undefined
    throw error
  }
}
