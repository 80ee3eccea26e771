import assert from 'node:assert/strict'
import { readdir, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openArchivedVault } from '../../../test/support/archived-vault.ts'
import { createLogging } from '../../platform/logger.ts'
import { createSegmentWatch, lookAtSegments } from './look-at-segments.ts'

test('[ARC-13] [MET-31] [DOC-27] the hub knows which segments are missing and which are damaged, and reads none', async () => {
  await using vault = await openArchivedVault()
  for (const daysAgo of [90, 80, 70]) await vault.append(512, daysAgo)
  await vault.append(1100, 1)
  await vault.sign()
  for (const daysAgo of [85, 75, 31]) await vault.archiveBefore(daysAgo)
  const { reader } = vault.store
  assert.deepEqual((await lookAtSegments(vault.archiver, reader)).counts, {
    present: 3,
    missing: 0,
    damaged: 0,
  })
  const [first = '', second = ''] = (await readdir(vault.archive)).sort()
  await rm(join(vault.archive, first))
  await truncate(join(vault.archive, second), 100)
  const stopping = new AbortController()
  const clock = {
    now: () => new Date(0),
    sleep: async () => stopping.abort(),
  }
  const log = createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }).forModule('test')
  const watch = createSegmentWatch({ archiver: vault.archiver, reader, clock, log })
  assert.equal(watch.seen(), undefined)
  await watch.run(stopping.signal)
  assert.deepEqual(watch.seen(), {
    counts: { present: 1, missing: 1, damaged: 1 },
    faulty: [
      { file: first, first: 1, last: 512, state: 'missing' },
      { file: second, first: 513, last: 1024, state: 'damaged' },
    ],
  })
})
