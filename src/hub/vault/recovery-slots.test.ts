import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, before, beforeEach, describe, test } from 'node:test'
import * as fc from 'fast-check'
import { initCheapVault } from '../../../test/support/cheap-vault.ts'
import { propertyRuns } from '../../../test/support/property.ts'
import { systemClock } from '../../platform/clock.ts'
import { Secret } from '../../platform/secret.ts'
import { generateAgeIdentity, recipientOf } from '../../sealing/age-identity.ts'
import { openVaultStore } from '../open-store.ts'
import { planKeys, putKeysInForce } from './change-keys.ts'
import type { RecoverySlot } from './key-changes.ts'
import { sealDataKey } from './recovery-slots.ts'
import { recoverVault, type UnsealedVault, unsealVault } from './unseal-vault.ts'
import { formatVaultConfig, parseVaultConfig } from './vault-config.ts'

const PASSPHRASE = new Secret('correct horse battery staple')
const AT = new Date('2026-01-02T03:04:05.678Z')
const CHANGE = {
  type: 'recovery_key_added',
  at: AT,
  recoveryKey: 'safe',
  fingerprint: null,
} as const
const UNKNOWN = {
  name: 'VaultError',
  code: 'vault_wrong_recovery_key',
  message: 'no recovery key of this vault is of that identity',
}

describe('a recovery key', () => {
  const identities: Secret<string>[] = []
  before(async () => {
    for (let n = 0; n < 4; n += 1) identities.push(new Secret(await generateAgeIdentity()))
  })
  const identity = (at: number): Secret<string> => identities[at] ?? assert.fail()

  let directory: string
  let vault: UnsealedVault
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'recovery-'))
    vault = await initCheapVault(join(directory, 'vault'), PASSPHRASE)
  })
  afterEach(() => rm(directory, { recursive: true }))

  const slotOf = async (at: number, from = vault): Promise<RecoverySlot> => {
    const recipient = await recipientOf(identity(at).reveal())
    const sealed = await sealDataKey(from.vaultId, from.dataKey, recipient)
    return { name: `key-${at}`, recipient, createdAt: AT, sealed }
  }
  const plan = (recovery: readonly RecoverySlot[], from = vault) =>
    planKeys(from, { passphrase: PASSPHRASE, recovery, change: CHANGE })
  const put = async (recovery: readonly RecoverySlot[]): Promise<void> =>
    putKeysInForce(vault, await plan(recovery), PASSPHRASE)

  test('[KEY-6] opens the vault as the passphrase does', async () => {
    await put([await slotOf(0), await slotOf(1)])
    for (const at of [0, 1]) {
      const recovered = await recoverVault(vault.root, identity(at))
      assert.deepEqual(recovered.vault.dataKey.reveal(), vault.dataKey.reveal())
      assert.equal(recovered.slot.name, `key-${at}`)
    }
    assert.deepEqual(
      (await unsealVault(vault.root, PASSPHRASE)).dataKey.reveal(),
      vault.dataKey.reveal(),
    )
  })

  test('[KEY-6] that the vault does not know, or no longer, opens nothing', async () => {
    await assert.rejects(recoverVault(vault.root, identity(0)), UNKNOWN)
    await put([await slotOf(0)])
    await assert.rejects(recoverVault(vault.root, identity(1)), UNKNOWN)
    vault = await unsealVault(vault.root, PASSPHRASE)
    await put([])
    await assert.rejects(recoverVault(vault.root, identity(0)), UNKNOWN)
  })

  test('[KEY-6] of another vault opens nothing, even where its slot was put', async () => {
    const other = await initCheapVault(join(directory, 'other'), PASSPHRASE)
    await put([await slotOf(0, other)])
    await assert.rejects(recoverVault(vault.root, identity(0)), UNKNOWN)
  })

  test('[KEY-3] [KEY-6] that a stranger sealed with a key of its own opens no database', async () => {
    // Anybody can seal for a recipient, and make a config.json that agrees with itself.
    const strangers = { ...vault, dataKey: new Secret(randomBytes(32)) }
    const forged = await plan([await slotOf(0, strangers)], strangers)
    await writeFile(join(vault.root, 'config.json'), formatVaultConfig(forged))
    const recovered = await recoverVault(vault.root, identity(0))
    await assert.rejects(openVaultStore(recovered.vault, { clock: systemClock }), {
      name: 'StoreError',
    })
  })

  test('[KEY-3] is noticed when it is added or swapped by somebody without a key', async () => {
    await put([await slotOf(0)])
    const path = join(vault.root, 'config.json')
    const config = parseVaultConfig(await readFile(path, 'utf8'), path)
    const keys = config.keys ?? assert.fail()
    for (const recovery of [[], [...keys.recovery, await slotOf(1)], [await slotOf(1)]]) {
      await writeFile(path, formatVaultConfig({ ...config, keys: { ...keys, recovery } }))
      const changed = { message: 'config.json was changed without a key of the vault' }
      await assert.rejects(unsealVault(vault.root, PASSPHRASE), changed)
      if (recovery.length > 0) await assert.rejects(recoverVault(vault.root, identity(1)), changed)
    }
  })

  test('[KEY-7] three fit into what version 0.4.0 reads, and any change of the text is refused', async () => {
    const text = formatVaultConfig(await plan([await slotOf(0), await slotOf(1), await slotOf(2)]))
    assert.ok(text.length <= 16 * 1024, `${text.length} bytes`)
    assert.equal(formatVaultConfig(parseVaultConfig(text, 'path')), text)
    fc.assert(
      fc.property(
        fc.nat({ max: text.length - 1 }),
        fc.nat({ max: 20 }),
        fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom('', '0', '"', ',', 'A')),
        (at, length, put_) => {
          const changed = text.slice(0, at) + put_ + text.slice(at + length)
          if (changed === text) return
          assert.throws(() => parseVaultConfig(changed, 'path'), { name: 'VaultError' })
        },
      ),
      propertyRuns(500),
    )
    const four = await Promise.all([0, 1, 2, 3].map((at) => slotOf(at)))
    const tooMany = formatVaultConfig(await plan(four))
    assert.throws(() => parseVaultConfig(tooMany, 'path'), { code: 'vault_corrupt' })
  })
})
