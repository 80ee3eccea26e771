import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { exists, readTextIfPresent, removeIfPresent, replaceFile, writeNewFile } from './files.ts'

let directory: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'files-'))
})
after(() => rm(directory, { recursive: true }))

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777

describe('writeNewFile', () => {
  test('has its mode whatever the umask, and refuses a file or link that is there', async () => {
    const path = join(directory, 'new')
    const umask = process.umask(0o077)
    try {
      await writeNewFile(path, 'x', 0o644)
    } finally {
      process.umask(umask)
    }
    assert.equal(await modeOf(path), 0o644)
    await assert.rejects(writeNewFile(path, 'y', 0o644), { code: 'EEXIST' })
    const link = join(directory, 'link')
    await symlink(join(directory, 'nowhere'), link)
    await assert.rejects(writeNewFile(link, 'y', 0o644), { code: 'EEXIST' })
    assert.equal(await readFile(path, 'utf8'), 'x')
  })
})

describe('replaceFile', () => {
  test('replaces content and mode, and leaves nothing beside it', async () => {
    const place = await mkdtemp(join(directory, 'replace-'))
    const path = join(place, 'file')
    await replaceFile(path, 'old', 0o644)
    await replaceFile(path, 'new', 0o600)
    assert.deepEqual([await readFile(path, 'utf8'), await modeOf(path)], ['new', 0o600])
    assert.deepEqual(await readdir(place), ['file'])
  })

  test('leaves the old file and nothing beside it when it fails', async () => {
    const place = await mkdtemp(join(directory, 'fails-'))
    await assert.rejects(replaceFile(join(place, 'none', 'file'), 'x', 0o600), { code: 'ENOENT' })
    const { mkdir } = await import('node:fs/promises')
    await mkdir(join(place, 'taken'))
    await writeFile(join(place, 'taken', 'inside'), '')
    await assert.rejects(replaceFile(join(place, 'taken'), 'x', 0o600))
    assert.deepEqual(await readdir(place), ['taken'])
  })
})

describe('readTextIfPresent', () => {
  test('answers the text, nothing for no file, and an error for one that is too large', async () => {
    const path = join(directory, 'read')
    await writeFile(path, '12345')
    assert.equal(await readTextIfPresent(path, 5), '12345')
    assert.equal(await readTextIfPresent(join(directory, 'none'), 5), undefined)
    await assert.rejects(readTextIfPresent(path, 4), { code: 'file_too_large' })
  })
})

test('removing and asking for a file that is not there is no error', async () => {
  const path = join(directory, 'maybe')
  await writeFile(path, '')
  assert.equal(await exists(path), true)
  await removeIfPresent(path)
  await removeIfPresent(path)
  assert.equal(await exists(path), false)
})
