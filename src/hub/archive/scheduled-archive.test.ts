import assert from 'node:assert/strict'
import { readdir, rename } from 'node:fs/promises'
import { test } from 'node:test'
import { ARCHIVE_NOW, openArchivedVault } from '../../../test/support/archived-vault.ts'
import { collectLog } from '../../../test/support/collected-log.ts'
import { createScheduledArchive } from './scheduled-archive.ts'

const DAY_MS = 86_400_000

test('[ARC-12] [MET-30] a hub archives what is older than it keeps, once a day, and tells of a failure once it is over', async () => {
  await using vault = await openArchivedVault()
  await vault.append(600, 100)
  await vault.append(600, 70)
  await vault.append(1100, 1)
  await vault.sign()
  const { log, lines } = collectLog()
  const { archiver, store } = vault
  let nowMs = ARCHIVE_NOW.getTime()
  const runFor = async (looks: number): Promise<void> => {
    const stop = new AbortController()
    let left = looks
    const clock = {
      now: () => new Date(nowMs),
      sleep: async (durationMs: number) => {
        nowMs += durationMs
        left -= 1
        if (left === 0) stop.abort()
      },
    }
    const options = { archiver, reader: store.reader, keepMs: 90 * DAY_MS, clock, log }
    const scheduled = createScheduledArchive(options)
    await scheduled.run(stop.signal)
    failing = scheduled.isFailing()
  }
  let failing = false
  await rename(vault.archive, `${vault.archive}.away`)
  await runFor(1)
  assert.deepEqual(
    [failing, lines.map(({ message }) => message)],
    [true, ['Old entries not archived, tried again']],
  )
  await rename(`${vault.archive}.away`, vault.archive)
  await runFor(1)
  assert.deepEqual([failing, await store.reader.findFirstSeq()], [false, 513])
  // Twenty days later the others are too old; within a day nothing more is written.
  nowMs += 21 * DAY_MS
  await runFor(1)
  assert.equal(await store.reader.findFirstSeq(), 1025)
  assert.equal((await readdir(vault.archive)).length, 2)
  await runFor(3)
  assert.equal((await readdir(vault.archive)).length, 2)
})
