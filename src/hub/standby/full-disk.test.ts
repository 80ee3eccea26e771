// The disk of a standby is full. docs/protocol.md STB-12, STB-17.

import assert from 'node:assert/strict'
import { appendFile, mkdtemp, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { runTool } from '../../../test/support/processes.ts'
import {
  countEntries,
  openStandbyScene,
  openTogether,
  untilTrue,
  writeEntry,
} from '../../../test/support/standby-scene.ts'
import { errnoCode } from '../../platform/errors.ts'

const DISK = 'size=16m,mode=0700'

test('[STB-12] [STB-17] nothing is acknowledged that it has not, and writes go on when there is room', async (context) => {
  const directory = await mkdtemp(join(tmpdir(), 'full-disk-'))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rm(directory, { recursive: true }))
  try {
    await runTool('mount', ['-t', 'tmpfs', '-o', DISK, 'tmpfs', directory])
  } catch (error) {
    // Not every root may mount; CI's has to.
    if (process.env['CI'] === 'true') throw error
    context.skip(String(error))
    return
  }
  stack.defer(async () => void (await runTool('umount', [directory])))
  const scene = stack.use(await openStandbyScene(directory))
  const store = await openTogether(scene)
  await writeEntry(store)
  const filler = join(directory, 'filler')
  await fillUp(filler)
  let acknowledged = 1
  let refusals = 0
  for (let count = 0; count < 400 && refusals < 3; count += 1) {
    try {
      await writeEntry(store)
      acknowledged += 1
    } catch (error) {
      assert.equal((error as { code?: string }).code, 'store_unavailable', String(error))
      refusals += 1
    }
  }
  assert.equal(refusals, 3)
  assert.equal(await countEntries(store), acknowledged)
  await truncate(filler, 0)
  for (;;) {
    try {
      await writeEntry(store)
      acknowledged += 1
      break
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  await untilTrue(() => store.standby?.state() === 'together')
  assert.equal(await countEntries(store), acknowledged)
  assert.equal(scene.copy.position?.number, store.standby?.position())
  assert.equal(
    await scene.copy.endWith(async (alone) => (await alone.reader.findChainEnd())?.seq),
    acknowledged,
  )
})

async function fillUp(path: string): Promise<void> {
  for (let bytes = 65_536; bytes >= 512;) {
    try {
      await appendFile(path, Buffer.alloc(bytes))
    } catch (error) {
      if (errnoCode(error) !== 'ENOSPC') throw error
      bytes /= 2
    }
  }
}
