import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { initCheapVault } from '../../test/support/cheap-vault.ts'
import { systemClock } from '../platform/clock.ts'
import { Secret } from '../platform/secret.ts'
import { openVaultStore } from './open-store.ts'
import { planKeys, putKeysInForce } from './vault/change-keys.ts'
import { type UnsealedVault, unsealVault } from './vault/vault.ts'

const PASSPHRASE = new Secret('correct horse battery staple')

describe('the log of the vault’s keys', () => {
  let directory: string
  let vault: UnsealedVault
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'key-log-'))
    vault = await initCheapVault(join(directory, 'vault'), PASSPHRASE)
  })
  afterEach(() => rm(directory, { recursive: true }))

  /** As by a process that dies when config.json is in its place. */
  const changeInSilence = async (day: number): Promise<void> => {
    const at = new Date(Date.UTC(2026, 0, day))
    const change = { type: 'passphrase_changed', at, recoveryKey: null, fingerprint: null } as const
    const planned = await planKeys(vault, { passphrase: PASSPHRASE, change })
    await putKeysInForce(vault, planned, PASSPHRASE)
    vault = await unsealVault(vault.root, PASSPHRASE)
  }
  const openAndRead = async (from = vault, acceptLoss = false): Promise<string[]> => {
    const store = await openVaultStore(from, { clock: systemClock, acceptLoss })
    try {
      const entries = await store.reader.listEntries({ afterSeq: 0, limit: 99 })
      return entries.map(({ eventType, payloadText }) => `${eventType} ${payloadText}`)
    } finally {
      await store.close()
    }
  }

  const FIRST =
    'passphrase_changed {"actor":"admin","generation":1,"changed_at":"2026-01-01T00:00:00.000Z","recovery_key":null,"fingerprint":null}'
  const THIRD =
    'passphrase_changed {"actor":"admin","generation":3,"changed_at":"2026-01-03T00:00:00.000Z","recovery_key":null,"fingerprint":null}'

  test('[KEY-4] says nothing of a vault whose keys are those of svc init', async () => {
    assert.deepEqual(await openAndRead(), [])
  })

  test('[KEY-4] is written by whoever opens the vault after a crash, once', async () => {
    await changeInSilence(1)
    assert.deepEqual(await openAndRead(), [FIRST])
    assert.deepEqual(await openAndRead(), [FIRST])
    await changeInSilence(2)
    await changeInSilence(3)
    assert.deepEqual(await openAndRead(), [FIRST, THIRD])
  })

  test('[KEY-5] knows that an older config.json was put back, until that is accepted', async () => {
    const ofInit = vault
    await changeInSilence(1)
    await openAndRead()
    for (let again = 0; again < 2; again += 1) {
      await assert.rejects(openAndRead(ofInit), {
        code: 'vault_keys_older',
        message:
          'config.json is older than the vault: it has generation 0 of the keys, the vault had 1',
      })
    }
    const accepted =
      'audit_loss_accepted {"actor":"admin","reason":"config.json has generation 0 of the keys, the vault had 1"}'
    assert.deepEqual(await openAndRead(ofInit, true), [FIRST, accepted])
    assert.deepEqual(await openAndRead(ofInit), [FIRST, accepted])
  })
})
