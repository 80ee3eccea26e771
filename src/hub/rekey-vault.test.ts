import assert from 'node:assert/strict'
import { cp, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { initCheapVault } from '../../test/support/cheap-vault.ts'
import { withFailingDisk } from '../../test/support/failing-disk.ts'
import { newEntry } from '../../test/store/store-samples.ts'
import { systemClock } from '../platform/clock.ts'
import { Secret } from '../platform/secret.ts'
import { generateAgeIdentity, recipientOf } from '../sealing/age-identity.ts'
import { openVaultStore } from './open-store.ts'
import { rekeyVault } from './rekey-vault.ts'
import { appendEntry } from './service/append-entries.ts'
import { planKeys, putKeysInForce } from './vault/change-keys.ts'
import type { KeyChange } from './vault/key-changes.ts'
import { sealDataKey } from './vault/recovery-slots.ts'
import { lockVault } from './vault/vault-lock.ts'
import { recoverVault, type UnsealedVault, unsealVault } from './vault/vault.ts'

const PASSPHRASE = new Secret('correct horse battery staple')
const AT = new Date('2026-01-02T03:04:05.678Z')
const CHANGE: KeyChange = { type: 'vault_rekeyed', at: AT, recoveryKey: null, fingerprint: null }
const FILES = ['audit.head', 'config.json', 'db.enc']

describe('a new data key', () => {
  let directory: string
  let to: string
  let vault: UnsealedVault
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'rekey-'))
    to = join(directory, 'new')
    vault = await initCheapVault(join(directory, 'vault'), PASSPHRASE)
    const store = await openVaultStore(vault, { clock: systemClock })
    for (let count = 0; count < 3; count += 1) {
      await store.write((writer) =>
        appendEntry(writer, newEntry({ payloadText: `{"n":${count}}` })),
      )
    }
    await store.close()
  })
  afterEach(() => rm(directory, { recursive: true }))

  const rekey = (onProgress: (what: string) => void = () => undefined): Promise<void> =>
    rekeyVault(vault, {
      to,
      passphrase: PASSPHRASE,
      change: CHANGE,
      clock: systemClock,
      checkpointDirectory: undefined,
      onProgress,
    })
  const readLog = async (from: UnsealedVault): Promise<string[]> => {
    const store = await openVaultStore(from, { clock: systemClock, checkPages: true })
    try {
      const entries = await store.reader.listEntries({ afterSeq: 0, limit: 99 })
      return entries.map(({ payloadText }) => payloadText)
    } finally {
      await store.close()
    }
  }
  const readOld = (): Promise<Buffer[]> =>
    Promise.all(FILES.map((name) => readFile(join(vault.root, name))))
  const isAside = async (): Promise<boolean> =>
    (await readdir(vault.root)).includes('config.json.rekeyed')
  /** What an operator does who goes on with the old vault. */
  const takeBack = (): Promise<void> =>
    rename(join(vault.root, 'config.json.rekeyed'), join(vault.root, 'config.json'))

  const OLD_LOG = ['{"n":0}', '{"n":1}', '{"n":2}']
  const REKEYED =
    '{"actor":"admin","generation":1,"changed_at":"2026-01-02T03:04:05.678Z","recovery_key":null,"fingerprint":null}'

  test('[KEY-8] makes a vault with the same passphrase and log; the old one is none until somebody takes it back', async () => {
    const before = await readOld()
    const steps: string[] = []
    await rekey((what) => steps.push(what))
    const refusal = {
      code: 'vault_missing',
      message: `the vault at ${vault.root} was made again under another key`,
    }
    assert.throws(() => lockVault(vault.root), refusal)
    await assert.rejects(unsealVault(vault.root, PASSPHRASE), refusal)
    await assert.rejects(initCheapVault(vault.root, PASSPHRASE), { code: 'vault_corrupt' })
    await takeBack()
    assert.deepEqual(await readOld(), before)
    const made = await unsealVault(to, PASSPHRASE)
    assert.equal(made.vaultId, vault.vaultId)
    assert.notDeepEqual(made.dataKey.reveal(), vault.dataKey.reveal())
    assert.deepEqual(await readLog(made), [...OLD_LOG, REKEYED])
    assert.deepEqual(await readLog(vault), OLD_LOG)
    assert.deepEqual((await readdir(to)).sort(), [...FILES, 'vault.lock'])
    for (const name of FILES) assert.equal((await stat(join(to, name))).mode & 0o777, 0o600)
    assert.ok(steps.includes('verifying the log: 4 of 4 entries'), steps.join())
  })

  test('[KEY-8] neither key opens anything of the other vault', async () => {
    await rekey()
    const made = await unsealVault(to, PASSPHRASE)
    for (const crossed of [
      { ...made, dataKey: vault.dataKey },
      { ...vault, dataKey: made.dataKey },
    ]) {
      await assert.rejects(openVaultStore(crossed, { clock: systemClock }), { name: 'StoreError' })
    }
    // A database or a head of the old vault in the new one is seen too.
    await cp(join(vault.root, 'audit.head'), join(to, 'audit.head'))
    await assert.rejects(openVaultStore(made, { clock: systemClock }), {
      code: 'audit_log_shorter',
    })
  })

  test('[KEY-8] recovery keys open the new vault', async () => {
    const identity = new Secret(await generateAgeIdentity())
    const recipient = await recipientOf(identity.reveal())
    const sealed = await sealDataKey(vault.vaultId, vault.dataKey, recipient)
    const recovery = [{ name: 'safe', recipient, createdAt: AT, sealed }]
    const added = { ...CHANGE, type: 'recovery_key_added' } as const
    const planned = await planKeys(vault, { passphrase: PASSPHRASE, recovery, change: added })
    await putKeysInForce(vault, planned, PASSPHRASE)
    vault = await unsealVault(vault.root, PASSPHRASE)
    await readLog(vault)
    await rekey()
    const made = await unsealVault(to, PASSPHRASE)
    const recovered = await recoverVault(to, identity)
    assert.deepEqual(recovered.vault.dataKey.reveal(), made.dataKey.reveal())
    assert.equal(made.config.keys?.generation, 2)
  })

  test('[KEY-8] refuses a vault that is there, and a directory with anything in it', async () => {
    await rekey()
    const made = await readFile(join(to, 'config.json'))
    await takeBack()
    await assert.rejects(rekey(), { code: 'vault_exists' })
    assert.deepEqual(await readFile(join(to, 'config.json')), made)
    to = join(directory, 'vault')
    await assert.rejects(rekey(), { code: 'vault_exists' })
    to = directory
    await assert.rejects(rekey(), { code: 'directory_in_use' })
  })

  test('[KEY-8] makes nothing of a passphrase that is not the vault’s own', async () => {
    const other = { ...vault, dataKey: new Secret(Buffer.alloc(32, 1)) }
    vault = other
    await assert.rejects(rekey())
    await assert.rejects(stat(join(to, 'config.json')), { code: 'ENOENT' })
  })

  test('[KEY-8] wherever the disk fails or the process dies there is no new vault or a whole one', async () => {
    const before = await readOld()
    const changes = await withFailingDisk(() => false, rekey)
    await takeBack()
    await rm(to, { recursive: true })
    assert.ok(changes >= 6, `${changes} changes`)
    let failed = 0
    for (let at = 1; at <= changes; at += 1) {
      for (const isDead of [false, true]) {
        const run = withFailingDisk((n) => (isDead ? n >= at : n === at), rekey)
        await run.catch(() => {
          failed += 1
        })
        const isMade = (await readdir(to).catch((): string[] => [])).includes('config.json')
        // Never before the new one is whole, so that there is one at every instant.
        assert.ok(isMade || !(await isAside()))
        if (await isAside()) await takeBack()
        assert.deepEqual(await readOld(), before)
        if (!isMade) {
          await rekey()
          await takeBack()
        }
        assert.equal((await readLog(await unsealVault(to, PASSPHRASE))).length, 4)
        await rm(to, { recursive: true })
      }
    }
    assert.ok(failed >= changes, `${failed} of ${2 * changes} failed`)
  })

  test('[KEY-8] a damaged page or entry is found before there is a new vault', async () => {
    const path = join(vault.root, 'db.enc')
    const bytes = await readFile(path)
    const at = bytes.length - 1000
    bytes[at] = (bytes[at] ?? 0) ^ 1
    await writeFile(path, bytes)
    await assert.rejects(rekey())
    await assert.rejects(stat(join(to, 'config.json')), { code: 'ENOENT' })
    assert.deepEqual(await readFile(path), bytes)
  })
})
