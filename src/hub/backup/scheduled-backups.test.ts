import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import {
  type BackedUpVault,
  collect,
  openBackedUpVault,
} from '../../../test/support/backed-up-vault.ts'
import { systemClock } from '../../platform/clock.ts'
import { createLogging } from '../../platform/logger.ts'
import { createBackupMaker } from './make-backup.ts'
import { chooseToRemove, createScheduledBackups, isDue } from './scheduled-backups.ts'

const HOUR_MS = 3_600_000
const START_MS = Date.UTC(2026, 10, 23)

describe('the backups that a hub makes by itself', () => {
  let made: BackedUpVault
  let directory: string
  let log: string
  before(async () => {
    made = await openBackedUpVault()
    directory = join(made.directory, 'backups')
  })
  after(() => made[Symbol.asyncDispose]())
  beforeEach(async () => {
    await rm(directory, { recursive: true, force: true })
    await mkdir(directory)
    log = ''
  })

  /** A hub that looks every minute of its clock, and is stopped at that hour; when the newest backup was made, in hours. */
  async function runUntil(hour: number, options: { keep?: number; freeBytes?: number } = {}) {
    let nowMs = START_MS + fromHour * HOUR_MS
    const stop = new AbortController()
    const clock = {
      now: () => new Date(nowMs),
      sleep: async (durationMs: number) => {
        nowMs += durationMs
        if (nowMs >= START_MS + hour * HOUR_MS) stop.abort()
      },
    }
    const write = (line: string): void => {
      log += line
    }
    const logging = createLogging({
      filter: { levelOf: () => 'info' },
      format: 'json',
      destination: { write },
    })
    const { vault, store } = made
    const scheduled = createScheduledBackups({
      directory,
      intervalMs: 10 * HOUR_MS,
      keep: options.keep ?? 3,
      vault,
      backups: createBackupMaker({ vault, store, clock }),
      countBytes: () => Promise.resolve(200_000),
      freeSpaceFloorBytes: 1000,
      clock,
      log: logging.forModule('test'),
      measureFreeBytes: () => Promise.resolve(options.freeBytes ?? 1e9),
    })
    await scheduled.run(stop.signal)
    fromHour = 0
    const last = scheduled.lastAt()
    return last && (last.getTime() - START_MS) / HOUR_MS
  }
  let fromHour = 0

  const hours = async (): Promise<number[]> =>
    (await readdir(directory))
      .filter((name) => name.startsWith(made.vault.vaultId) && name.endsWith('.svcbackup'))
      .sort()
      .map((name) => {
        const [, day = '', hour = ''] = /-(\d\d)T(\d\d)0000\.000Z\.svcbackup$/.exec(name) ?? []
        return (Number(day) - 23) * 24 + Number(hour)
      })

  test('[BKP-11] [BKP-13] are made each interval, and the oldest go', async () => {
    assert.equal(await runUntil(45), 40)
    assert.deepEqual(await hours(), [20, 30, 40])
    fromHour = 45
    assert.equal(await runUntil(49), 40)
    fromHour = 49
    assert.equal(await runUntil(51), 50)
  })

  test('[BKP-13] leave alone what is damaged, of another vault, or no backup', async () => {
    assert.equal(await runUntil(15, { keep: 9 }), 10)
    const [oldest = ''] = (await readdir(directory)).sort()
    await truncate(join(directory, oldest), 1000)
    await writeFile(join(directory, 'letter.txt'), '')
    fromHour = 15
    // The damaged one is not counted.
    assert.equal(await runUntil(35, { keep: 1 }), 30)
    assert.deepEqual(await hours(), [0, 30])
    assert.ok((await readdir(directory)).includes('letter.txt'))
  })

  test('[BKP-13] leave alone, and do not count, what cannot be read and what is of another time', async () => {
    const { vaultId } = made.vault
    const nameAt = (time: string): string => `${vaultId}-${time}.svcbackup`
    // Of an operator, who named it alike; and of a clock that was wrong for a while.
    await mkdir(join(directory, nameAt('2026-11-22T000000.000Z')))
    await symlink('nothing', join(directory, nameAt('2026-11-22T010000.000Z')))
    assert.equal(await runUntil(1, { keep: 1 }), 0)
    const [, , good = ''] = (await readdir(directory)).sort()
    const whole = await readFile(join(directory, good))
    const clock = { ...systemClock, now: () => new Date('2035-01-01T00:00:00Z') }
    const future = await createBackupMaker({ ...made, clock }).begin('hub')
    await writeFile(join(directory, nameAt('2035-01-01T000000.000Z')), await collect(future.stream))
    await writeFile(join(directory, nameAt('2036-01-01T000000.000Z')), changeTime(whole, 'soon'))
    fromHour = 1
    assert.equal(await runUntil(35, { keep: 1 }), 30)
    assert.equal(log, '')
    assert.deepEqual(
      (await readdir(directory)).sort(),
      [
        '2026-11-22T000000.000Z',
        '2026-11-22T010000.000Z',
        '2026-11-24T060000.000Z',
        '2035-01-01T000000.000Z',
        '2036-01-01T000000.000Z',
      ].map(nameAt),
    )
  })

  test('[BKP-13] leave alone, and do not count, what the vault did not make, or made under another name', async () => {
    assert.equal(await runUntil(1), 0)
    const [good = ''] = await readdir(directory)
    const whole = await readFile(join(directory, good))
    const nameAt = (time: string): string => `${made.vault.vaultId}-${time}.svcbackup`
    // By somebody who can write there, and would have the hub make none, or remove the good ones.
    const madeUp = nameAt('2026-11-23T090000.000Z')
    await writeFile(join(directory, madeUp), changeTime(whole, '2026-11-23T09:00:00.000Z'))
    const renamed = nameAt('2026-11-23T093000.000Z')
    await writeFile(join(directory, renamed), whole)
    fromHour = 1
    assert.equal(await runUntil(25, { keep: 2 }), 20)
    const kept = ['2026-11-23T100000.000Z', '2026-11-23T200000.000Z'].map(nameAt)
    assert.deepEqual((await readdir(directory)).sort(), [madeUp, renamed, ...kept])
  })

  test('[BKP-12] begin with what a crash left, and go on after a failure', async () => {
    const left = `${made.vault.vaultId}-x.svcbackup.partial-0123456789ab`
    await writeFile(join(directory, left), '')
    await writeFile(join(directory, 'other.partial-0123456789ab'), '')
    assert.equal(await runUntil(1, { freeBytes: 1000 }), undefined)
    assert.deepEqual(await readdir(directory), ['other.partial-0123456789ab'])
    assert.equal(log.match(/"msg":"Scheduled backup failed"/g)?.length, 4)
    assert.match(log, /has 1000 bytes free, and the backup needs 200000"/)
    fromHour = 1
    assert.ok((await runUntil(2)) === 1)
  })

  test('[BKP-12] say in the log that the directory is missing', async () => {
    await rm(directory, { recursive: true })
    assert.equal(await runUntil(0.1), undefined)
    assert.match(log, /"msg":"Scheduled backup failed"/)
    await mkdir(directory)
  })
})

/** As somebody without the key can write it: only the checksum of the head is right. */
function changeTime(backup: Buffer, createdAt: string): Buffer {
  const textBytes = backup.readUInt32BE(8)
  const fields = JSON.parse(backup.toString('utf8', 12, 12 + textBytes)) as object
  const text = Buffer.from(JSON.stringify({ ...fields, createdAt }))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(text.length)
  const described = Buffer.concat([backup.subarray(0, 8), length, text])
  const digest = hash('sha256', described, 'buffer')
  return Buffer.concat([described, digest, backup.subarray(12 + textBytes + 32)])
}

test('[BKP-13] the newest backup stays, whatever is to be kept', () => {
  const kept = [1, 2, 3].map((at) => ({ path: `${at}`, at: new Date(at) }))
  assert.deepEqual(
    chooseToRemove(kept, 0).map(({ path }) => path),
    ['1', '2'],
  )
  assert.deepEqual(chooseToRemove(kept, 5), [])
})

test('[BKP-11] a backup of the future is no reason to make none', () => {
  assert.equal(isDue(undefined, 10, 0), true)
  assert.equal(isDue(new Date(100), 10, 109), false)
  assert.equal(isDue(new Date(100), 10, 110), true)
  assert.equal(isDue(new Date(500), 10, 110), true)
})
