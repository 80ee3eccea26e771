import assert from 'node:assert/strict'
import { mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { hash, randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import * as fc from 'fast-check'
import { initCheapVault } from '../../../test/support/cheap-vault.ts'
import { withFailingDisk } from '../../../test/support/failing-disk.ts'
import { propertyRuns } from '../../../test/support/property.ts'
import { Secret } from '../../platform/secret.ts'
import { planKeys, putKeysInForce } from './change-keys.ts'
import type { KeyChange } from './key-changes.ts'
import { type UnsealedVault, unsealVault } from './unseal-vault.ts'
import { formatVaultConfig, parseVaultConfig } from './vault-config.ts'

const OLD = new Secret('correct horse battery staple')
const NEW = new Secret('another horse altogether')
const CHANGE: KeyChange = {
  type: 'passphrase_changed',
  at: new Date('2026-01-02T03:04:05.678Z'),
  recoveryKey: null,
  fingerprint: null,
}

describe('a change of the passphrase', () => {
  let directory: string
  let root: string
  let path: string
  let vault: UnsealedVault
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'keys-'))
    root = join(directory, 'vault')
    path = join(root, 'config.json')
    vault = await initCheapVault(root, OLD)
  })
  afterEach(() => rm(directory, { recursive: true }))

  const plan = (from = vault, passphrase = NEW) => planKeys(from, { passphrase, change: CHANGE })
  const change = async (): Promise<void> => putKeysInForce(vault, await plan(), NEW)
  const opensWith = async (passphrase: Secret<string>): Promise<boolean> => {
    try {
      const opened = await unsealVault(root, passphrase)
      assert.deepEqual(opened.dataKey.reveal(), vault.dataKey.reveal())
      return true
    } catch (error) {
      assert.equal((error as { code: string }).code, 'vault_wrong_passphrase')
      return false
    }
  }

  test('[KEY-1] [KEY-3] keeps the data key and the vault’s id, and only the new one opens', async () => {
    await change()
    assert.deepEqual([await opensWith(OLD), await opensWith(NEW)], [false, true])
    const { config, vaultId } = await unsealVault(root, NEW)
    assert.equal(vaultId, vault.vaultId)
    assert.deepEqual(config.keys, { generation: 1, change: CHANGE, recovery: [] })
    assert.notDeepEqual(config.keyDerivation.salt, vault.config.keyDerivation.salt)
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    assert.match(await readFile(path, 'utf8'), /^\{\n {2}"format": 2,\n/)
  })

  test('[KEY-4] counts', async () => {
    await change()
    const second = await plan(await unsealVault(root, NEW), OLD)
    assert.equal(second.keys?.generation, 2)
  })

  test('[KEY-1] leaves the old one or the new one wherever the disk fails or the process dies', async () => {
    const before = await readFile(path, 'utf8')
    const planned = await plan()
    const attempt = (): Promise<void> => putKeysInForce(vault, planned, NEW)
    const changes = await withFailingDisk(() => false, attempt)
    assert.ok(changes >= 3, `${changes} changes`)
    let kept = 0
    for (let at = 1; at <= changes; at += 1) {
      for (const isDead of [false, true]) {
        await writeFile(path, before)
        await withFailingDisk(
          (n) => (isDead ? n >= at : n === at),
          () => assert.rejects(attempt(), { name: 'VaultError' }),
        ).catch((error: unknown) => {
          // Nothing that failed was needed.
          assert.match(String(error), /Missing expected rejection/)
        })
        const now = await readFile(path, 'utf8')
        assert.ok(now === before || now === formatVaultConfig(planned), now)
        kept += now === before ? 1 : 0
        if (now === before) assert.ok(await opensWith(OLD))
        // And what it left behind is no obstacle.
        await attempt()
        assert.ok(await opensWith(NEW))
        assert.deepEqual((await readdir(root)).sort(), ['config.json', 'db.enc', 'vault.lock'])
      }
    }
    assert.ok(kept >= 4, `${kept} of ${2 * changes} kept the old one`)
  })

  for (const [call, code] of [
    [['writeFile', 1], 'vault_unavailable'],
    [['chmod', 1], 'vault_unavailable'],
    [['sync', 1], 'vault_unavailable'],
    [['sync', 2], 'vault_unavailable'],
    [['sync', 3], 'vault_unsynced'],
  ] as const) {
    test(`[KEY-1] says what holds when ${call.join(' number ')} fails`, async () => {
      const planned = await plan()
      await withFailingHandles(call, () =>
        assert.rejects(putKeysInForce(vault, planned, NEW), { name: 'VaultError', code }),
      )
      const isNew = code === 'vault_unsynced'
      assert.deepEqual([await opensWith(OLD), await opensWith(NEW)], [!isNew, isNew])
      assert.deepEqual((await readdir(root)).sort(), ['config.json', 'db.enc', 'vault.lock'])
    })
  }

  test('[KEY-1] does not replace a file by one that the new passphrase does not open', async () => {
    const before = await readFile(path, 'utf8')
    const planned = await plan(vault, OLD)
    await assert.rejects(putKeysInForce(vault, planned, NEW), { code: 'vault_wrong_passphrase' })
    const other = { ...vault, dataKey: new Secret(randomBytes(32)) }
    await assert.rejects(putKeysInForce(vault, await plan(other), NEW), { code: 'vault_corrupt' })
    assert.equal(await readFile(path, 'utf8'), before)
    assert.deepEqual((await readdir(root)).sort(), ['config.json', 'db.enc', 'vault.lock'])
  })

  describe('afterwards', () => {
    beforeEach(change)

    /** As somebody who has the file alone can write it: with a good checksum. */
    const put = async (edit: (fields: Record<string, unknown>) => void): Promise<void> => {
      const { checksum: _, ...fields } = JSON.parse(await readFile(path, 'utf8')) as Record<
        string,
        unknown
      >
      edit(fields)
      const checksum = hash('sha256', JSON.stringify(fields), 'hex')
      const text = `${JSON.stringify({ ...fields, checksum }, undefined, 2)}\n`
      assert.equal(formatVaultConfig(parseVaultConfig(text, path)), text)
      await writeFile(path, text)
    }
    const forged: readonly [string, (fields: Record<string, unknown>) => void][] = [
      ['generation', (fields) => (fields['generation'] = 2)],
      [
        'last change',
        (fields) =>
          (fields['last_change'] = {
            ...(fields['last_change'] as object),
            at: '2026-02-02T00:00:00.000Z',
          }),
      ],
      [
        'recovery keys',
        (fields) =>
          (fields['recovery_keys'] = [
            {
              name: 'mine',
              recipient: `age1pq1${'q'.repeat(1952)}`,
              created_at: '2026-02-02T00:00:00.000Z',
              sealed: 'QUJD',
            },
          ]),
      ],
      ['mac', (fields) => (fields['mac'] = '0'.repeat(64))],
    ]
    for (const [what, edit] of forged) {
      test(`[KEY-3] another ${what} is noticed`, async () => {
        await put(edit)
        await assert.rejects(unsealVault(root, NEW), {
          name: 'VaultError',
          message: 'config.json was changed without a key of the vault',
        })
      })
    }

    test('[KEY-3] what is known of a change cannot be taken out of the file', async () => {
      await put((fields) => {
        fields['format'] = 1
        for (const name of ['generation', 'last_change', 'recovery_keys', 'mac']) {
          Reflect.deleteProperty(fields, name)
        }
      })
      await assert.rejects(unsealVault(root, NEW), { code: 'vault_wrong_passphrase' })
    })

    test('[KEY-3] [VLT-9] a file with any stretch replaced or removed is refused', async () => {
      const whole = await readFile(path, 'utf8')
      const text = fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom('', '0', '"', ',', 'null'))
      fc.assert(
        fc.property(
          fc.nat({ max: whole.length }),
          fc.nat({ max: 20 }),
          text,
          (at, length, put_) => {
            const changed = whole.slice(0, at) + put_ + whole.slice(at + length)
            if (changed === whole) return
            assert.throws(() => parseVaultConfig(changed, path), { name: 'VaultError' }, changed)
          },
        ),
        propertyRuns(2000),
      )
    })
  })
})

/** The n-th call of one method of an open file fails, as on a disk that does. */
async function withFailingHandles(
  [name, at]: readonly [name: 'writeFile' | 'chmod' | 'sync', at: number],
  work: () => Promise<void>,
): Promise<void> {
  const handle = await open('/dev/null')
  const methods = Object.getPrototypeOf(handle) as Record<
    string,
    (...args: never[]) => Promise<unknown>
  >
  await handle.close()
  const original = methods[name]
  assert.ok(original)
  let calls = 0
  methods[name] = function (this: unknown, ...args) {
    calls += 1
    if (calls !== at) return original.apply(this, args)
    return Promise.reject(Object.assign(new Error('EIO: i/o error'), { code: 'EIO' }))
  }
  try {
    await work()
  } finally {
    methods[name] = original
  }
  assert.ok(calls >= at, `${name} was called ${calls} times`)
}
