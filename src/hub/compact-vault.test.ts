import assert from 'node:assert/strict'
import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openBackedUpVault } from '../../test/support/backed-up-vault.ts'
import { withFailingDisk } from '../../test/support/failing-disk.ts'
import { systemClock } from '../platform/clock.ts'
import { compactVault } from './compact-vault.ts'
import { openVaultStore } from './open-store.ts'

test('[ARC-11] a compact file has what the old one had, and a fault at any change of the disk leaves the old one', async () => {
  await using made = await openBackedUpVault()
  const { vault } = made
  await made.fill(600)
  await made.sign()
  await made.store.write(async (writer) => {
    // As an archive would: the row lets the entries go.
    const [entry] = await writer.listEntries({ afterSeq: 511, limit: 1 })
    const { timestamp = '', hash = '' } = entry ?? {}
    await writer.insertSegment({
      first: 1,
      last: 512,
      firstTimestamp: timestamp,
      lastTimestamp: timestamp,
      previousHash: '0'.repeat(64),
      hash,
      file: 'segment',
      bytes: 1,
      createdAt: systemClock.now(),
    })
    await writer.removeArchived(512)
  })
  await made.closeStore()
  const readLog = async (): Promise<string[]> => {
    const store = await openVaultStore(vault, { clock: systemClock, checkPages: true })
    try {
      return await store.reader.listRecords(512, 1000)
    } finally {
      await store.close()
    }
  }
  const before = await readLog()
  assert.equal(before.length, 88)
  const { size } = await stat(vault.databasePath)
  // What a process that was killed left.
  await writeFile(join(vault.root, 'db.enc.compact'), 'left')
  const changes = await withFailingDisk(
    () => false,
    () => compactVault(vault, () => undefined),
  )
  const { size: compact, mode } = await stat(vault.databasePath)
  assert.ok(compact < size / 2, `${size} ${compact}`)
  assert.equal(mode & 0o777, 0o600)
  assert.deepEqual(await readLog(), before)
  for (let change = 1; change <= changes; change += 1) {
    await assert.rejects(
      withFailingDisk(
        (at) => at >= change,
        () => compactVault(vault, () => undefined),
      ),
    )
    assert.deepEqual(await readLog(), before)
  }
  await compactVault(vault, () => undefined)
  assert.deepEqual(await readLog(), before)
  assert.deepEqual((await readdir(vault.root)).sort(), [
    'audit.head',
    'config.json',
    'db.enc',
    'vault.lock',
  ])
})
