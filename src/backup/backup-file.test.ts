import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { withFailingDisk } from '../../test/support/failing-disk.ts'
import { isPartialBackup, writeBackupFile } from './backup-file.ts'

const NEW = { replace: false }

describe('[BKP-10] the file of a backup', () => {
  let directory: string
  let path: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'backup-file-'))
    path = join(directory, 'b')
  })
  afterEach(() => rm(directory, { recursive: true }))

  const pieces = (...texts: string[]) => Readable.from(texts.map((text) => Buffer.from(text)))

  test('is whole under its name, and for its owner alone', async () => {
    await writeBackupFile(path, pieces('one', 'two'), NEW)
    assert.equal(await readFile(path, 'utf8'), 'onetwo')
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    assert.deepEqual(await readdir(directory), ['b'])
  })

  test('replaces no other, unless it may', async () => {
    await writeFile(path, 'old')
    await assert.rejects(writeBackupFile(path, pieces('new'), NEW), {
      code: 'file_exists',
      message: `${path} exists already`,
    })
    assert.equal(await readFile(path, 'utf8'), 'old')
    await writeBackupFile(path, pieces('new'), { replace: true })
    assert.equal(await readFile(path, 'utf8'), 'new')
  })

  test('takes no name that somebody took meanwhile', async () => {
    async function* slow(): AsyncGenerator<Buffer> {
      yield Buffer.from('new')
      await writeFile(path, 'theirs')
    }
    await assert.rejects(writeBackupFile(path, slow(), NEW), { code: 'file_exists' })
    assert.equal(await readFile(path, 'utf8'), 'theirs')
    assert.deepEqual(await readdir(directory), ['b'])
  })

  test('leaves nothing of a backup that broke off', async () => {
    async function* broken(): AsyncGenerator<Buffer> {
      yield Buffer.from('new')
      throw new Error('broken off')
    }
    await assert.rejects(writeBackupFile(path, broken(), NEW), /broken off/)
    assert.deepEqual(await readdir(directory), [])
  })

  for (const replace of [false, true]) {
    test(`is the old one, the new one, or no file, wherever it ends (replace: ${replace})`, async () => {
      const prepare = async (): Promise<void> => {
        for (const name of await readdir(directory)) await rm(join(directory, name))
        if (replace) await writeFile(path, 'old')
      }
      const write = () => writeBackupFile(path, pieces('new'), { replace }).catch(() => undefined)
      await prepare()
      const changes = await withFailingDisk(() => false, write)
      assert.ok(changes >= 2, `${changes} changes`)
      for (let end = 1; end <= changes; end += 1) {
        await prepare()
        await withFailingDisk((change) => change >= end, write)
        const names = await readdir(directory)
        const other = names.filter((name) => name !== 'b')
        assert.ok(other.every(isPartialBackup), `ended before change ${end}: ${names.join(' ')}`)
        const text = names.includes('b') ? await readFile(path, 'utf8') : 'none'
        assert.ok(['new', replace ? 'old' : 'none'].includes(text), `${end}: ${text}`)
      }
    })
  }
})
